#include "core/linux/tcp/lingering_close.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host {
namespace {

// A connection whose near end has unread data and has just sent its last bytes.
struct UnreadConnection {
  UnreadConnection() {
    auto [ours, theirs] = test::connected_pair();
    near = std::move(ours);
    far = std::move(theirs);
    test::write_all(far.get(), std::string(50000, 'u'));
    test::write_all(near.get(), std::string("last words"));
  }
  UniqueFd near;
  UniqueFd far;
};

TEST(LingeringClose, DeliversTheLastBytesInSpiteOfUnreadData) {
  UnreadConnection connection;
  boost::asio::io_context io;
  close_lingering(io, std::move(connection.near));
  std::thread closing([&] { io.run(); });
  // More data arrives after the sending side is shut down: it is discarded, not answered by a reset.
  test::write_all(connection.far.get(), std::string(50000, 'v'));
  EXPECT_EQ(test::read_text(connection.far.get(), 10), "last words");
  EXPECT_TRUE(test::reads_end(connection.far.get()));
  connection.far.reset();
  closing.join();
}

// For comparison: the same connection, closed with close(), sends a reset.
TEST(LingeringClose, DiffersFromClose) {
  UnreadConnection connection;
  connection.near.reset();
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::recv(connection.far.get(), &byte, 1, 0)) > 0) continue;
  EXPECT_EQ(got, -1);
  EXPECT_EQ(errno, ECONNRESET);
}

std::chrono::steady_clock::duration time_to_close(bool peer_closes) {
  UnreadConnection connection;
  boost::asio::io_context io;
  close_lingering(io, std::move(connection.near));
  if (peer_closes) connection.far.reset();
  const auto begin = std::chrono::steady_clock::now();
  io.run();
  return std::chrono::steady_clock::now() - begin;
}

TEST(LingeringClose, EndsAsSoonAsThePeerCloses) {
  // A busy machine may delay one close beyond the limit, but not all of them.
  bool at_once = false;
  for (int i = 0; i < 5 && !at_once; ++i) at_once = time_to_close(true) < std::chrono::milliseconds(1500);
  EXPECT_TRUE(at_once);
}

TEST(LingeringClose, DoesNotWaitForeverForAPeerThatStays) {
  EXPECT_LT(time_to_close(false), std::chrono::seconds(40));
}

// Whether a peer that reads nothing until then receives everything queued for it.
bool delivers_after_the_limit(Unsent unsent) {
  auto [near, far] = test::connected_pair();
  const std::string bytes(8U << 20, 'q');
  while (::send(near.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) continue;
  boost::asio::io_context io;
  close_lingering(io, std::move(near), unsent);
  io.run();
  std::string got(1U << 20, '\0');
  ssize_t count = 0;
  while ((count = ::recv(far.get(), got.data(), got.size(), 0)) > 0) continue;
  return count == 0;
}

TEST(LingeringClose, KeepsSendingOrDiscardsWhatThePeerHasNotRead) {
  EXPECT_TRUE(delivers_after_the_limit(Unsent::kKeepOffering));
  EXPECT_FALSE(delivers_after_the_limit(Unsent::kForget));
}

TEST(LingeringClose, DiscardsAllThatCircuitsHaveOnTheirWay) {
  auto [near, far] = test::connected_pair();
  test::write_all(near.get(), std::string("last words"));
  boost::asio::io_context io;
  close_lingering(io, std::move(near));
  std::thread closing([&] { io.run(); });
  test::write_all(far.get(), std::string(8U << 20, 'v'));
  EXPECT_EQ(test::read_text(far.get(), 10), "last words");
  EXPECT_TRUE(test::reads_end(far.get()));
  far.reset();
  closing.join();
}

bool can_send(int socket) {
  return ::send(socket, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

TEST(RefusedConnections, DeliverTheReasonInSpiteOfUnreadData) {
  auto [near, far] = test::connected_pair();
  test::write_all(far.get(), std::string(20000, 'u'));
  test::write_all(near.get(), std::string("the reason"));
  boost::asio::io_context io;
  close_refused(io, std::move(near));
  std::thread closing([&] { io.run(); });
  test::write_all(far.get(), std::string(20000, 'v'));
  EXPECT_EQ(test::read_text(far.get(), 10), "the reason");
  EXPECT_TRUE(test::reads_end(far.get()));
  far.reset();
  closing.join();
}

TEST(RefusedConnections, AreBoundedInNumberAndTheOldestGiveWay) {
  constexpr std::size_t kPeers = kMaxRefused + 100;
  boost::asio::io_context io;
  std::vector<UniqueFd> peers;
  for (std::size_t i = 0; i < kPeers; ++i) {
    auto [near, far] = test::connected_pair();
    test::write_all(far.get(), std::string("garbage"));
    test::write_all(near.get(), std::string("the reason"));
    close_refused(io, std::move(near));
    peers.push_back(std::move(far));
    io.poll();
  }
  std::size_t open = 0;
  for (std::size_t i = 0; i < kPeers; ++i) {
    const bool is_open = can_send(peers[i].get());
    open += is_open ? 1 : 0;
    EXPECT_FALSE(is_open && i + kMaxRefused < kPeers) << i;
    EXPECT_EQ(test::read_text(peers[i].get(), 10), "the reason") << "a reset must not take it away, peer " << i;
  }
  EXPECT_LE(open, kMaxRefused);
  EXPECT_GE(open, kMaxRefused / 2) << "of those that are left, a slow machine may have closed some for their time";
  // The connections of circuits do not count.
  auto [near, far] = test::connected_pair();
  close_lingering(io, std::move(near));
  io.poll();
  EXPECT_TRUE(can_send(far.get()));
}

TEST(RefusedConnections, AreResetWhenTheyGoOnSending) {
  std::pair<UniqueFd, UniqueFd> ends = test::connected_pair();
  boost::asio::io_context io;
  close_refused(io, std::move(ends.first));
  const std::string garbage(16384, 'g');
  std::size_t sent = 0;
  const auto is_closed = [&] {
    const ssize_t count = ::send(ends.second.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) sent += static_cast<std::size_t>(count);
    return count < 0 && errno != EAGAIN;
  };
  EXPECT_TRUE(test::run_until(is_closed, [&] { io.run_one_for(std::chrono::milliseconds(1)); }));
  EXPECT_LE(sent, 4 * kMaxRefusedBytes) << "what is beyond the limit was sent in the same moment";
}

TEST(LingeringClose, AcceptsAnInvalidSocket) {
  boost::asio::io_context io;
  close_lingering(io, UniqueFd());
  close_refused(io, UniqueFd());
  EXPECT_EQ(io.run(), 0U);
}

}  // namespace
}  // namespace cableway::host
