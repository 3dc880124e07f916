#include "sim/cable/connection_lifeline.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "absl/status/status.h"

namespace cableway::sim {
namespace {

using namespace std::chrono_literals;

class NoLinkUser final : public LinkUser {
 public:
  void wake() override {}
};

Frame acknowledgement(std::uint64_t message) {
  return Frame{FrameKind::kAck, 0, message, 0, 1};
}

class ConnectionLifelineTest : public ::testing::Test {
 protected:
  ConnectionLifelineTest() { connection_.set_users(nobody_, nobody_); }
  void expect_silent(ConnectionLifeline& line) {
    const auto frame_or = line.look();
    ASSERT_TRUE(frame_or.ok()) << frame_or.status();
    EXPECT_FALSE(frame_or->has_value());
  }
  void expect_frame(ConnectionLifeline& line, const Frame& frame) {
    const auto frame_or = line.look();
    ASSERT_TRUE(frame_or.ok() && frame_or->has_value());
    EXPECT_EQ(**frame_or, frame);
  }

  NoLinkUser nobody_;
  VirtualClock clock_;
  Transmitter there_{clock_, 1e9};
  Transmitter back_{clock_, 1e9};
  CableUse use_;
  CableHop connection_{clock_, WireFacts{.latency = 10us}, {&there_, &use_}, {&back_, &use_}, Payload::kCarried};
  ConnectionLifeline near_{connection_.source()};
  ConnectionLifeline far_{connection_.destination()};
};

TEST_F(ConnectionLifelineTest, SendsTheLastAcknowledgementsThenTheReason) {
  expect_silent(near_);
  far_.leave(std::array{acknowledgement(3), acknowledgement(4)}, HopLifeline::Failure{"the disk is full"});
  expect_silent(near_);
  clock_.run_for(1ms);
  expect_frame(near_, acknowledgement(3));
  expect_frame(near_, acknowledgement(4));
  EXPECT_EQ(near_.look().status(), absl::AbortedError("the disk is full"));
  EXPECT_EQ(near_.look().status(), absl::AbortedError("the disk is full")) << "it stays so";
}

TEST_F(ConnectionLifelineTest, CarriesTheScopeOfAFailure) {
  near_.leave({}, HopLifeline::Failure{"the job has ended", FailureScope::kFlow});
  clock_.run_for(1ms);
  EXPECT_EQ(far_.look().status(), absl::NotFoundError("the job has ended"));
}

TEST_F(ConnectionLifelineTest, ClosesWithoutAReason) {
  near_.leave(std::array{acknowledgement(0)}, std::nullopt);
  clock_.run_for(1ms);
  expect_frame(far_, acknowledgement(0));
  EXPECT_TRUE(absl::IsCancelled(far_.look().status()));
}

TEST_F(ConnectionLifelineTest, AKilledProcessSendsNothing) {
  near_.kill_process();
  near_.leave(std::array{acknowledgement(0)}, HopLifeline::Failure{"had enough"});
  clock_.run_for(1ms);
  EXPECT_TRUE(absl::IsCancelled(far_.look().status()));
}

TEST_F(ConnectionLifelineTest, ACutConnectionDeliversNothing) {
  connection_.source().cut(absl::UnavailableError("silent"));
  near_.leave(std::array{acknowledgement(0)}, HopLifeline::Failure{"had enough"});
  clock_.run_for(1s);
  expect_silent(far_);
  EXPECT_EQ(near_.look().status(), absl::UnavailableError("silent"));
}

TEST_F(ConnectionLifelineTest, RejectsAnAnnouncement) {
  ASSERT_TRUE(connection_.source().send_control(Frame{FrameKind::kAnnounce, 0, 0, 0, 1}).ok());
  clock_.run_for(1ms);
  EXPECT_TRUE(absl::IsInvalidArgument(far_.look().status()));
}

}  // namespace
}  // namespace cableway::sim
