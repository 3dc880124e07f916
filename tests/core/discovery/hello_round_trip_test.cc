// Latencies from the times in hellos: exact without noise, independent of what the clocks show, and none from
// impossible times.
#include "core/discovery/hello_round_trip.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace cableway {
namespace {

using namespace std::chrono_literals;

// One of two nodes, with a clock of its own.
struct TimedNode {
  Duration offset{0};
  std::int64_t gains_ppm = 0;
  HelloRoundTrip trip;

  Instant at(Duration world) const { return Instant{offset + world + world * gains_ppm / 1'000'000}; }
};

struct TimedHello {
  std::uint64_t sent_ns = 0;
  HelloEcho echo;
};

TimedHello send(TimedNode& side, Duration world) {
  const Instant now = side.at(world);
  return {static_cast<std::uint64_t>(now.since_start.count()), side.trip.echo(now)};
}

std::optional<Duration> receive(TimedNode& side, const TimedHello& hello, Duration world) {
  return side.trip.hear(hello.sent_ns, hello.echo, side.at(world));
}

class HelloRoundTripTest : public ::testing::Test {
 protected:
  // Hellos back and forth, each held for `hold` before the answer; what the near side measures.
  std::vector<Duration> exchange(int hellos, Duration hold, Duration there, Duration back) {
    std::vector<Duration> measured;
    for (int i = 0; i < hellos; ++i) {
      const TimedHello out = send(near_, world_);
      world_ += there;
      receive(far_, out, world_);
      world_ += hold;
      const TimedHello in = send(far_, world_);
      world_ += back;
      if (const auto latency = receive(near_, in, world_)) measured.push_back(*latency);
      world_ += hold;
    }
    return measured;
  }

  TimedNode near_;
  TimedNode far_;
  Duration world_ = 1s;
};

TEST_F(HelloRoundTripTest, MeasuresExactly) {
  for (const Duration latency : {Duration(1ns), Duration(800ns), Duration(1us), Duration(500us), Duration(1s)}) {
    near_.trip = far_.trip = HelloRoundTrip();
    const std::vector<Duration> measured = exchange(5, 50ms, latency, latency);
    EXPECT_EQ(measured, std::vector<Duration>(4, latency)) << "the first hello out knows none of the other's";
  }
}

TEST_F(HelloRoundTripTest, MeasuresTheMeanOfBothDirections) {
  EXPECT_EQ(exchange(3, 50ms, 100us, 300us), std::vector<Duration>(2, 200us));
}

// As two hosts that were started at different times.
TEST_F(HelloRoundTripTest, ClocksNeedNotAgree) {
  far_.offset = 10 * 365 * 24h;
  EXPECT_EQ(exchange(3, 50ms, 2us, 2us), std::vector<Duration>(2, 2us));
}

// A round trip of two hellos would be wrong by 50 us here, 25 times the latency.
TEST_F(HelloRoundTripTest, ClocksNeedNotRunAtTheSameRate) {
  near_.gains_ppm = 500;
  far_.gains_ppm = -500;
  const std::vector<Duration> measured = exchange(50, 50ms, 2us, 2us);
  ASSERT_EQ(measured.size(), 49U);
  for (const Duration latency : measured) EXPECT_NEAR(static_cast<double>(latency.count()), 2000, 5);
}

// Hellos go out by each node's own timer and are lost on the way: any of them, at any time.
TEST_F(HelloRoundTripTest, AnyHellosInAnyOrderMeasure) {
  far_.gains_ppm = 100;
  Duration far_sends = world_ + 37500us;  // never with the other's hello on the way
  int measured = 0;
  for (int i = 0; i < 1000; ++i) {
    if (world_ < far_sends) {
      const TimedHello out = send(near_, world_);
      if (i % 3 != 0) receive(far_, out, world_ + 3us);
      world_ += 100ms;
    } else {
      const TimedHello in = send(far_, far_sends);
      far_sends += 87ms;
      if (i % 7 == 0) continue;
      if (const auto latency = receive(near_, in, far_sends - 87ms + 3us)) {
        EXPECT_NEAR(static_cast<double>(latency->count()), 3000, 5);
        ++measured;
      }
    }
  }
  EXPECT_GT(measured, 100);
}

TEST_F(HelloRoundTripTest, NoiseOnlyAdds) {
  // Whichever of the three hellos is late, by up to the time between two.
  for (int late = 0; late < 3; ++late) {
    near_.trip = far_.trip = HelloRoundTrip();
    const auto delay = [&](int hello) { return hello == late ? 10us + 20ms : Duration(10us); };
    const TimedHello first = send(far_, world_);
    receive(near_, first, world_ + delay(0));
    const TimedHello second = send(near_, world_ + 30ms);
    receive(far_, second, world_ + 30ms + delay(1));
    const TimedHello third = send(far_, world_ + 60ms);
    const std::optional<Duration> latency = receive(near_, third, world_ + 60ms + delay(2));
    ASSERT_TRUE(latency.has_value()) << late;
    EXPECT_GT(*latency, 1ms) << late;
    world_ += 1s;
  }
}

TEST_F(HelloRoundTripTest, ManyMayBeInFlight) {
  exchange(2, 1ms, 10us, 10us);
  const TimedHello slow = send(near_, world_);
  for (int i = 1; i < 16; ++i) send(near_, world_ + i * 1ms);
  receive(far_, slow, world_ + 16ms);
  EXPECT_TRUE(receive(near_, send(far_, world_ + 17ms), world_ + 18ms).has_value());
  // An echo of one that is older than those remembered measures nothing.
  const TimedHello late = send(far_, world_ + 19ms);
  send(near_, world_ + 20ms);
  EXPECT_FALSE(receive(near_, late, world_ + 21ms).has_value());
}

// A neighbour may send any times, but impossible ones make no latency.
TEST_F(HelloRoundTripTest, ImpossibleTimesMeasureNothing) {
  const auto measured = [&](const auto& change) {
    near_.trip = far_.trip = HelloRoundTrip();
    world_ += 1s;
    exchange(2, 50ms, 10us, 10us);
    receive(far_, send(near_, world_), world_ + 10us);
    TimedHello forged = send(far_, world_ + 50ms);
    change(forged);
    return receive(near_, forged, world_ + 50ms + 10us);
  };
  EXPECT_EQ(measured([](TimedHello&) {}), 10us);
  EXPECT_FALSE(measured([](TimedHello& hello) { hello.sent_ns = 0; })) << "no time";
  EXPECT_FALSE(measured([](TimedHello& hello) { hello.echo = {}; })) << "no echo";
  EXPECT_FALSE(measured([](TimedHello& hello) { ++hello.echo.sent_ns; })) << "of a hello that was never sent";
  EXPECT_FALSE(measured([](TimedHello& hello) { hello.echo.sent_ns += 1'000'000'000'000; })) << "in the future";
  EXPECT_FALSE(measured([](TimedHello& hello) { hello.echo.held_ns += 21'000; })) << "held for longer than it was away";
  EXPECT_FALSE(measured([](TimedHello& hello) { hello.echo.held_ns = UINT64_MAX; }));
  EXPECT_FALSE(measured([](TimedHello& hello) { hello.echo.held_ns = UINT64_MAX / 2; }));
  EXPECT_FALSE(measured([](TimedHello& hello) { hello.sent_ns = 1; })) << "before the hello that it follows";
  EXPECT_FALSE(measured([](TimedHello& hello) { hello.sent_ns = UINT64_MAX; }));
}

// The next hello of an honest neighbour measures again.
TEST_F(HelloRoundTripTest, RecoversFromGarbage) {
  exchange(2, 50ms, 10us, 10us);
  near_.trip.hear(UINT64_MAX, {UINT64_MAX, UINT64_MAX}, near_.at(world_));
  near_.trip.hear(0, {}, near_.at(world_));
  const std::vector<Duration> measured = exchange(3, 50ms, 10us, 10us);
  ASSERT_GE(measured.size(), 2U);
  EXPECT_EQ(measured.back(), 10us);
}

}  // namespace
}  // namespace cableway
