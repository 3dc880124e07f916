// Tests that take minutes: silence beyond every timer that a kernel or a library may have by default, and more
// connections than there are ports.
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/conformance/ranks/silence.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

constexpr int kAbi = 11;  // nothing here depends on the table

TEST(LongTest, SilenceOfMinutesFailsNothing) {
  expect_silence_is_tolerated(kAbi, std::chrono::seconds(150));
}

TEST(LongTest, MoreConnectionsThanPortsInAMinute) {
  // A used port stays in TIME_WAIT for a minute, and all of these take less. To one process there can be only as many
  // connections as ports; to each of several processes as many again. Each has a listening port of its own: two that
  // drew the same one would share its connections.
  constexpr int kProcesses = 3;
  constexpr int kConnectionsEach = 4'000;
  constexpr int kFirstListened = 39'000;
  World world("a");
  std::ofstream ports("/proc/sys/net/ipv4/ip_local_port_range");
  ASSERT_TRUE(ports << "40000 45999" << std::flush) << "of this network namespace";
  world.start("a");
  for (int i = 0; i < kProcesses; ++i) {
    ::setenv("CABLEWAY_DATA_PORTS", absl::StrCat(kFirstListened + i, "-", kFirstListened + i).c_str(), 1);
    RankProcess(world, "a", kAbi, [](Rank& rank, Line&) {
      for (int connection = 0; connection < kConnectionsEach; ++connection) {
        auto [sender, receiver] = rank.connect_to_self();
        EXPECT_EQ(rank.net().close_send(sender), abi::kSuccess);
        EXPECT_EQ(rank.net().close_recv(receiver), abi::kSuccess);
      }
      EXPECT_THAT(warnings(), testing::IsEmpty());
    }).finish(std::chrono::seconds(60));
  }
  ::unsetenv("CABLEWAY_DATA_PORTS");
}

}  // namespace
}  // namespace cableway::nccl::test
