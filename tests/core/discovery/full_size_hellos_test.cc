#include "core/discovery/full_size_hellos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "core/discovery/control_channel.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr NeighbourKey kKey{1, {7}, 2};

class FullSizeHellosTest : public ::testing::Test {
 protected:
  FullSizeHellosTest() {
    hello_.mtu = 1500;
    hello_.hold_ms = 1000;
  }
  bool hear(Duration at, std::size_t bytes) { return hellos_.hear(kKey, hello_, bytes, false, Instant{at}); }
  FullSize arrivals(Duration at) const { return hellos_.arrivals(kKey, Instant{at}); }

  PortHello hello_;
  FullSizeHellos hellos_;
};

TEST(FullSizeBytes, FillAnIpPacket) {
  EXPECT_EQ(full_size_bytes(1500, false), 1472U);
  EXPECT_EQ(full_size_bytes(1500, true), 1452U);
  EXPECT_EQ(full_size_bytes(9000, false), 8972U);
  EXPECT_EQ(full_size_bytes(65536, false), kMaxDatagramBytes) << "loopback";
  EXPECT_EQ(full_size_bytes(65536, true), kMaxDatagramBytes);
  EXPECT_EQ(full_size_bytes(0, false), 0U);
}

TEST_F(FullSizeHellosTest, EverySecondHelloOfAPortIsOneAndTheFirst) {
  EXPECT_TRUE(hellos_.is_next(1));
  EXPECT_FALSE(hellos_.is_next(1));
  EXPECT_TRUE(hellos_.is_next(2)) << "the first of another port";
  EXPECT_TRUE(hellos_.is_next(1));
}

TEST_F(FullSizeHellosTest, AreAwaitedThenArriveThenAreLost) {
  EXPECT_EQ(arrivals(0s), FullSize::kAwaited) << "not heard at all";
  EXPECT_FALSE(hear(1s, 200));
  EXPECT_FALSE(hear(1100ms, 1471));
  EXPECT_EQ(arrivals(1100ms), FullSize::kAwaited);
  EXPECT_TRUE(hear(1200ms, 1472));
  EXPECT_FALSE(hear(1400ms, 1472)) << "no news";
  EXPECT_EQ(arrivals(1400ms), FullSize::kArrives);
  hear(3300ms, 200);
  EXPECT_EQ(arrivals(3399ms), FullSize::kArrives) << "within two hold times";
  EXPECT_EQ(arrivals(3400ms), FullSize::kLost) << "small ones do not count";
  EXPECT_TRUE(hear(4s, 5000)) << "one that was sent in fragments";
  EXPECT_EQ(arrivals(4s), FullSize::kArrives);
}

TEST_F(FullSizeHellosTest, ThatNeverArriveAreLostAfterTwoHoldTimes) {
  hear(1s, 200);
  EXPECT_EQ(arrivals(2999ms), FullSize::kAwaited);
  EXPECT_EQ(arrivals(3s), FullSize::kLost);
  hellos_.forget(kKey);
  EXPECT_EQ(arrivals(3s), FullSize::kAwaited);
}

TEST_F(FullSizeHellosTest, PassOnlyIfTheyArriveAtBothEnds) {
  EXPECT_FALSE(hellos_.pass(kKey, Instant{1s}));
  hear(1s, 1472);
  EXPECT_FALSE(hellos_.pass(kKey, Instant{1s}));
  EXPECT_FALSE(hellos_.loss(kKey, Instant{1s}).any()) << "it may hear one soon";
  hellos_.learn(kKey, FullSize::kArrives);
  EXPECT_TRUE(hellos_.pass(kKey, Instant{1s}));
  hellos_.learn(kKey, FullSize::kLost);
  EXPECT_FALSE(hellos_.pass(kKey, Instant{1s}));
  EXPECT_EQ(hellos_.loss(kKey, Instant{1s}), (LargePacketLoss{.from = false, .to = true}));
  EXPECT_EQ(hellos_.loss(kKey, Instant{3s}), (LargePacketLoss{.from = true, .to = true}));
  hellos_.learn(kKey, FullSize::kArrives);
  EXPECT_EQ(hellos_.loss(kKey, Instant{3s}), (LargePacketLoss{.from = true, .to = false}));
}

TEST_F(FullSizeHellosTest, OfALargerMtuMustPassAgain) {
  hear(1s, 1472);
  hello_.mtu = 9000;
  hear(1100ms, 1472);
  EXPECT_EQ(arrivals(1100ms), FullSize::kAwaited);
  EXPECT_EQ(arrivals(3100ms), FullSize::kLost);
  EXPECT_TRUE(hear(3200ms, 8972));
}

TEST_F(FullSizeHellosTest, AreAwaitedLongerAfterAStall) {
  hear(1s, 1472);
  hellos_.extend_holds(5s);
  EXPECT_EQ(arrivals(7999ms), FullSize::kArrives);
  EXPECT_EQ(arrivals(8s), FullSize::kLost);
  hear(8s, 1472);
  EXPECT_EQ(arrivals(10s), FullSize::kLost) << "the extension is over";
}

TEST(ExplainLoss, NamesDirectionSizeAndWhatToCheck) {
  PortFacts port;
  port.interface = "eth0";
  port.mtu = 9000;
  Neighbour neighbour;
  neighbour.name = "n1";
  neighbour.interface = "eth5";
  EXPECT_EQ(
      explain_loss(port, neighbour, {.from = true, .to = false}),
      "large packets are lost: hellos of 9000 bytes from port eth5 of node n1 do not arrive on port eth0, small ones "
      "do: check the MTU at both ends (9000 here) and that a switch in between passes such frames");
  EXPECT_THAT(explain_loss(port, neighbour, {.from = false, .to = true}),
              HasSubstr("from port eth0 do not arrive on port eth5 of node n1, small"));
  EXPECT_THAT(explain_loss(port, neighbour, {.from = true, .to = true}),
              HasSubstr("between port eth0 and port eth5 of node n1 arrive at neither end, small"));
  port.mtu = 65536;
  EXPECT_THAT(explain_loss(port, neighbour, {.from = true, .to = true}),
              AllOf(HasSubstr("32796"), Not(HasSubstr(" ms"))));
}

}  // namespace
}  // namespace cableway
