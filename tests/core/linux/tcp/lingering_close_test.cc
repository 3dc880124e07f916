#include "core/linux/tcp/lingering_close.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
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

TEST(LingeringClose, AcceptsAnInvalidSocket) {
  boost::asio::io_context io;
  close_lingering(io, UniqueFd());
  EXPECT_EQ(io.run(), 0U);
}

}  // namespace
}  // namespace cableway::host
