// What a device's events say of its health, and until when.
#include <gtest/gtest.h>

#include <memory>

#include "absl/status/status.h"
#include "tests/core/linux/fake_verbs.h"

namespace cableway::linux_ {
namespace {

class VerbsEventsTest : public testing::Test {
 protected:
  void tell(ibv_event_type type, int port) {
    ibv_async_event event{};
    event.event_type = type;
    event.element.port_num = port;
    fake_.events.push_back(event);
    EXPECT_TRUE(device_->next_event().has_value());
  }

  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0");
  const std::shared_ptr<VerbsDevice> device_ = verbs_.open(fake_);
  const absl::Status port_failed_ = absl::UnavailableError("RDMA device mlx5_0: port error");
};

TEST_F(VerbsEventsTest, APortThatFailedIsInTroubleUntilTheDeviceSaysThatItIsBack) {
  EXPECT_TRUE(device_->health(1).ok());
  tell(IBV_EVENT_PORT_ERR, 1);
  EXPECT_EQ(device_->health(1), port_failed_);
  EXPECT_TRUE(device_->health(2).ok());
  tell(IBV_EVENT_PORT_ACTIVE, 1);
  EXPECT_TRUE(device_->health(1).ok());
}

TEST_F(VerbsEventsTest, OrUntilItIsFoundActive) {
  fake_.port_state = IBV_PORT_DOWN;
  tell(IBV_EVENT_PORT_ERR, 1);
  tell(IBV_EVENT_PORT_ERR, 2);
  EXPECT_FALSE(device_->active_mtu(1).ok());
  EXPECT_EQ(device_->health(1), port_failed_);
  fake_.port_state = IBV_PORT_ACTIVE;
  EXPECT_EQ(device_->active_mtu(1).value(), 4096U);
  EXPECT_TRUE(device_->health(1).ok());
  EXPECT_EQ(device_->health(2), port_failed_) << "nobody has looked";
  EXPECT_TRUE(device_->active_mtu(2).ok());
  EXPECT_TRUE(device_->health(2).ok());
  tell(IBV_EVENT_PORT_ERR, 1);
  EXPECT_EQ(device_->health(1), port_failed_) << "a further time";
}

// Which of the two is newer nobody knows.
TEST_F(VerbsEventsTest, AnErrorThatIsHeardOfWhileThePortIsLookedAtStays) {
  for (const bool before_too : {false, true}) {
    SCOPED_TRACE(before_too);
    if (before_too) tell(IBV_EVENT_PORT_ERR, 1);
    fake_.while_port_is_queried = [&] { tell(IBV_EVENT_PORT_ERR, 1); };
    EXPECT_TRUE(device_->active_mtu(1).ok());
    EXPECT_EQ(device_->health(1), port_failed_);
    fake_.while_port_is_queried = nullptr;
    EXPECT_TRUE(device_->active_mtu(1).ok());
    EXPECT_TRUE(device_->health(1).ok());
  }
}

TEST_F(VerbsEventsTest, ADeviceThatFailedStaysInTroubleWhateverItsPortsSay) {
  tell(IBV_EVENT_DEVICE_FATAL, 0);
  EXPECT_TRUE(device_->is_lost());
  EXPECT_TRUE(device_->active_mtu(1).ok());
  EXPECT_EQ(device_->health(1), absl::UnavailableError("RDMA device mlx5_0: some event"));
}

}  // namespace
}  // namespace cableway::linux_
