// A hop whose cable fails, or whose sends complete late or never.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "sim/cable/cable_hop.h"

namespace cableway::sim {
namespace {

using namespace std::chrono_literals;

class Nobody final : public LinkUser {
 public:
  void wake() override {}
};

// A flow over one hop; its ends poll when the test says so.
class OneHop : public ::testing::Test {
 protected:
  OneHop() { hop_.set_users(nobody_, nobody_); }

  void announce(std::size_t bytes) {
    landing_.resize(bytes);
    ASSERT_TRUE(receiver_.post(Landing{landing_.data(), bytes, 0}).ok());
    clock_.run_for(1ms);
    ASSERT_TRUE(sender_.progress().ok());
  }

  Nobody nobody_;
  VirtualClock clock_;
  Transmitter there_{clock_, 1e9};
  Transmitter back_{clock_, 1e9};
  CableUse use_;
  std::vector<std::byte> message_ = std::vector<std::byte>(256, std::byte{3});
  std::vector<std::byte> landing_;
  CableHop hop_{clock_, WireFacts{.latency = 10us}, {&there_, &use_}, {&back_, &use_}, Payload::kCarried};
  FlowSender sender_{hop_.source(), 128};
  FlowReceiver receiver_{hop_.destination()};
};

TEST_F(OneHop, StallsWhileItsCableIsSilentAndResumes) {
  announce(256);
  hop_.forward().hold(true);
  ASSERT_TRUE(sender_.post(SendBuffer{message_.data(), 0}, 256).ok());
  for (int i = 0; i < 5; ++i) {
    clock_.run_for(1ms);
    ASSERT_TRUE(sender_.progress().ok());
    ASSERT_TRUE(receiver_.progress().ok());
  }
  EXPECT_FALSE(receiver_.done(0));
  hop_.forward().hold(false);
  clock_.run_for(1ms);
  ASSERT_TRUE(receiver_.progress().ok());
  EXPECT_TRUE(receiver_.done(0));
  EXPECT_EQ(landing_, message_);
}

TEST_F(OneHop, DetectsMemoryChangedBeforeCompletion) {
  hop_.forward().complete_late(5ms);
  announce(128);
  ASSERT_TRUE(sender_.post(SendBuffer{message_.data(), 0}, 128).ok());
  clock_.run_for(1ms);
  ASSERT_TRUE(receiver_.progress().ok());
  EXPECT_TRUE(receiver_.done(0));
  clock_.run_for(1ms);
  ASSERT_TRUE(sender_.progress().ok());
  EXPECT_FALSE(sender_.done(0)) << "it is acknowledged, and its memory may still be read";
  message_[5] = std::byte{9};
  clock_.run_for(10ms);
  EXPECT_EQ(hop_.forward().changed_too_early(), 1U);
}

TEST_F(OneHop, EndsWhenASendFails) {
  hop_.forward().fail_next_send();
  announce(128);
  ASSERT_TRUE(sender_.post(SendBuffer{message_.data(), 0}, 128).ok());
  clock_.run_for(1ms);
  EXPECT_EQ(sender_.progress().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(sender_.done(0));
}

TEST_F(OneHop, DeliversTheLastAcknowledgementBeforeTheEnd) {
  announce(128);
  ASSERT_TRUE(sender_.post(SendBuffer{message_.data(), 0}, 128).ok());
  clock_.run_for(1ms);
  ASSERT_TRUE(receiver_.progress().ok());
  hop_.destination().fence();
  clock_.run_for(1ms);
  EXPECT_EQ(sender_.progress().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(sender_.done(0));
}

}  // namespace
}  // namespace cableway::sim
