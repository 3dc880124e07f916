#include "tools/collperf/rendezvous.h"

#include <netdb.h>
#include <unistd.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/collperf/launch/free_port.h"

namespace cableway::collperf {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

using Joined = absl::StatusOr<std::unique_ptr<Rendezvous>>;

class RendezvousTest : public testing::Test {
 protected:
  RendezvousOptions options_of_rank(int rank, int ranks, milliseconds timeout = milliseconds(10000)) const {
    return {.rank = rank,
            .ranks = ranks,
            .host = "127.0.0.1",
            .port = port_,
            .timeout = timeout,
            .agreement = {{"sizes", {8, 16}}, {"iters", 20}}};
  }

  static std::future<Joined> join_soon(RendezvousOptions options) {
    return std::async(std::launch::async, [options = std::move(options)] { return Rendezvous::join(options); });
  }

  std::vector<std::unique_ptr<Rendezvous>> join_all(int ranks, milliseconds timeout = milliseconds(10000)) {
    std::vector<std::future<Joined>> futures;
    for (int rank = ranks - 1; rank >= 0; --rank) futures.push_back(join_soon(options_of_rank(rank, ranks, timeout)));
    std::vector<std::unique_ptr<Rendezvous>> joined(static_cast<std::size_t>(ranks));
    for (int i = 0; i < ranks; ++i) {
      Joined result = futures[static_cast<std::size_t>(i)].get();
      EXPECT_TRUE(result.ok()) << result.status();
      if (result.ok()) joined[static_cast<std::size_t>(ranks - 1 - i)] = *std::move(result);
    }
    return joined;
  }

  // Connects to rank 0 as an untrusted peer, sends `text`, and returns the open socket.
  OwnedFd connect_and_send(const std::string& text) const {
    for (;;) {
      OwnedFd fd(socket(AF_INET, SOCK_STREAM, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(port_);
      if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
        send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
        return fd;
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
  }

  std::uint16_t port_ = free_port();
};

TEST_F(RendezvousTest, EveryRankGetsTheBlobsOfAll) {
  auto ranks = join_all(4);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::future<absl::StatusOr<std::vector<std::string>>>> futures;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      futures.push_back(std::async(std::launch::async, [&ranks, rank, round] {
        return ranks[rank]->all_gather(absl::StrCat(round, std::string(1, '\0'), rank));
      }));
    }
    for (auto& future : futures) {
      const auto blobs = future.get();
      ASSERT_TRUE(blobs.ok()) << blobs.status();
      const auto blob = [&](int rank) { return absl::StrCat(round, std::string(1, '\0'), rank); };
      EXPECT_THAT(*blobs, ElementsAre(blob(0), blob(1), blob(2), blob(3)));
    }
  }
}

TEST_F(RendezvousTest, LargeBlobs) {
  // Slow machines and sanitizers may need long for this much data.
  auto ranks = join_all(2, milliseconds(60000));
  auto other = std::async(std::launch::async, [&] { return ranks[1]->all_gather(std::string(5 << 20, 'b')); });
  const auto blobs = ranks[0]->all_gather(std::string(5 << 20, 'a'));
  ASSERT_TRUE(blobs.ok());
  EXPECT_EQ((*blobs)[1], std::string(5 << 20, 'b'));
  EXPECT_EQ(other.get()->front(), std::string(5 << 20, 'a'));
}

TEST_F(RendezvousTest, NamesTheRanksThatDidNotJoin) {
  auto member = join_soon(options_of_rank(2, 4, milliseconds(5000)));
  const Joined root = Rendezvous::join(options_of_rank(0, 4, milliseconds(5000)));
  ASSERT_FALSE(root.ok());
  EXPECT_THAT(std::string(root.status().message()), HasSubstr("rank 1, 3 of 4 did not join"));
  const Joined joined = member.get();
  ASSERT_FALSE(joined.ok());
  EXPECT_THAT(std::string(joined.status().message()), HasSubstr("rank 1, 3 of 4 did not join"));
}

TEST_F(RendezvousTest, ReportsThatRankZeroIsUnreachable) {
  const Joined joined = Rendezvous::join(options_of_rank(3, 4, milliseconds(300)));
  ASSERT_FALSE(joined.ok());
  EXPECT_THAT(std::string(joined.status().message()),
              HasSubstr(absl::StrCat("rank 3 cannot reach rank 0 at 127.0.0.1:", port_)));
}

TEST_F(RendezvousTest, ReportsAForeignAddress) {
  RendezvousOptions options = options_of_rank(0, 2);
  options.host = "192.0.2.1";  // reserved for documentation (RFC 5737)
  const Joined joined = Rendezvous::join(options);
  ASSERT_FALSE(joined.ok());
  EXPECT_THAT(std::string(joined.status().message()), HasSubstr("cannot listen at 192.0.2.1"));
}

TEST_F(RendezvousTest, NamesTheOptionInWhichRanksDiffer) {
  RendezvousOptions options = options_of_rank(1, 2);
  options.agreement["iters"] = 21;
  auto member = join_soon(options);
  const Joined root = Rendezvous::join(options_of_rank(0, 2));
  ASSERT_FALSE(root.ok());
  EXPECT_THAT(std::string(root.status().message()), HasSubstr("rank 1 were started with different options: iters"));
  EXPECT_THAT(std::string(member.get().status().message()), HasSubstr("iters (20 and 21)"));
}

TEST_F(RendezvousTest, TwoProcessesOfOneRank) {
  auto first = join_soon(options_of_rank(1, 3));
  auto second = join_soon(options_of_rank(1, 3));
  const Joined root = Rendezvous::join(options_of_rank(0, 3));
  ASSERT_FALSE(root.ok());
  EXPECT_THAT(std::string(root.status().message()), HasSubstr("two processes joined as rank 1"));
  EXPECT_FALSE(first.get().ok());
  EXPECT_FALSE(second.get().ok());
}

TEST_F(RendezvousTest, AnotherNumberOfRanks) {
  auto member = join_soon(options_of_rank(1, 3));
  const Joined root = Rendezvous::join(options_of_rank(0, 2));
  EXPECT_THAT(std::string(root.status().message()), HasSubstr("another number of ranks: 2 and 3"));
  EXPECT_FALSE(member.get().ok());
}

TEST_F(RendezvousTest, GarbageIsRejectedAndTheRunContinues) {
  auto root = join_soon(options_of_rank(0, 2));
  std::vector<OwnedFd> untrusted_peers;
  untrusted_peers.push_back(connect_and_send("GET / HTTP/1.1\r\n\r\n"));
  untrusted_peers.push_back(connect_and_send(std::string(100000, '\xff')));
  untrusted_peers.push_back(connect_and_send(std::string("\x02\0\0\0\x01{}", 7)));      // an empty hello
  untrusted_peers.push_back(connect_and_send(std::string("\x05\0\0\0\x01[1,2]", 10)));  // a hello of the wrong type
  untrusted_peers.push_back(
      connect_and_send(std::string("\x04\0\0\0\x03"
                                   "abcd",
                                   9)));                                                // a gather without a hello
  untrusted_peers.push_back(connect_and_send(""));                                      // silence
  untrusted_peers.push_back(connect_and_send(std::string("\xff\xff\xff\x7f\x01", 5)));  // a huge length
  auto member = join_soon(options_of_rank(1, 2));
  EXPECT_TRUE(root.get().ok());
  EXPECT_TRUE(member.get().ok());
}

TEST_F(RendezvousTest, ALostRankIsNamedOnEveryOtherRank) {
  auto ranks = join_all(3);
  ranks[2].reset();
  const auto root = ranks[0]->all_gather("");
  ASSERT_FALSE(root.ok());
  EXPECT_THAT(std::string(root.status().message()), HasSubstr("rank 2 is lost"));
  const auto member = ranks[1]->all_gather("");
  ASSERT_FALSE(member.ok());
  EXPECT_THAT(std::string(member.status().message()), HasSubstr("rank 2 is lost"));
}

TEST_F(RendezvousTest, AReasonIsForwardedToEveryRank) {
  auto ranks = join_all(3);
  auto aborting = std::async(std::launch::async, [&] { ranks[1]->abort("the cable is on fire"); });
  absl::Status root;
  while (root.ok()) root = ranks[0]->check_peers();
  absl::Status member;
  while (member.ok()) member = ranks[2]->check_peers();
  EXPECT_EQ(root.message(), "rank 1: the cable is on fire");
  EXPECT_EQ(member.message(), "rank 1: the cable is on fire");
}

TEST_F(RendezvousTest, ABusyRankDoesNotTimeOutButASilentOneDoes) {
  auto ranks = join_all(2, milliseconds(6000));
  auto waiting = std::async(std::launch::async, [&] { return ranks[0]->all_gather(""); });
  const Clock::time_point busy_until = Clock::now() + milliseconds(8000);
  while (Clock::now() < busy_until) {
    ASSERT_TRUE(ranks[1]->check_peers().ok());
    std::this_thread::sleep_for(milliseconds(50));
  }
  ASSERT_TRUE(ranks[1]->all_gather("").ok());
  EXPECT_TRUE(waiting.get().ok());

  const auto silent = ranks[0]->all_gather("");
  ASSERT_FALSE(silent.ok());
  EXPECT_THAT(std::string(silent.status().message()), HasSubstr("rank 1 has been silent for 6 s"));
}

// /etc/hosts often gives a host's own name a loopback address, at which other hosts cannot connect.
TEST_F(RendezvousTest, ANameThatIsLoopbackHereIsListenedAtEverywhere) {
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof(name) - 1), 0);
  addrinfo hints{};
  hints.ai_family = AF_INET;
  addrinfo* found = nullptr;
  if (getaddrinfo(name, nullptr, &hints, &found) != 0) GTEST_SKIP() << "this host has no name";
  const bool is_loopback =
      ntohl(reinterpret_cast<sockaddr_in*>(found->ai_addr)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  freeaddrinfo(found);
  if (!is_loopback) GTEST_SKIP() << "this host's name is another address";
  RendezvousOptions root = options_of_rank(0, 2);
  root.host = name;
  RendezvousOptions member = options_of_rank(1, 2);
  member.host = "127.0.0.7";
  std::future<Joined> first = join_soon(root);
  std::future<Joined> second = join_soon(member);
  // Both stay until both have joined.
  const Joined joined_first = first.get();
  const Joined joined_second = second.get();
  EXPECT_TRUE(joined_first.ok()) << joined_first.status();
  EXPECT_TRUE(joined_second.ok()) << joined_second.status();
}

}  // namespace
}  // namespace cableway::collperf
