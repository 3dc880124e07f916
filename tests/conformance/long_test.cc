// What takes minutes: silence beyond every timer that a kernel or a library may have by default, and more connections
// than there are ports.
#include <chrono>

#include "tests/conformance/silence.h"
#include "tests/conformance/suite.h"

namespace cableway::nccl::test {
namespace {

constexpr int kAbi = 11;  // nothing here depends on the table

TEST(LongTest, SilenceOfMinutesFailsNothing) {
  expect_silence_is_borne(kAbi, std::chrono::seconds(150));
}

TEST(LongTest, MoreConnectionsThanPortsInAMinute) {
  // 28,232 ports are ephemeral by default, and one that was used rests for a minute. At well over a thousand
  // connections a second these come to twice as many in that time.
  constexpr int kConnections = 60'000;
  LoopbackWorld world("a");
  world.start("a");
  RankProcess(world, "a", kAbi, [](Rank& rank, Line&) {
    for (int i = 0; i < kConnections; ++i) {
      auto [sender, receiver] = rank.connect_to_self();
      EXPECT_EQ(rank.net().close_send(sender), abi::kSuccess);
      EXPECT_EQ(rank.net().close_recv(receiver), abi::kSuccess);
    }
    EXPECT_THAT(warnings(), testing::IsEmpty());
  }).finish(std::chrono::seconds(200));
}

}  // namespace
}  // namespace cableway::nccl::test
