// What a device's events say of its health, and until when.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/linux/rdma/verbs_queue_pair.h"
#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::host {
namespace {

class VerbsEventsTest : public testing::Test {
 protected:
  void tell(ibv_event_type type, int port) {
    ibv_async_event event{};
    event.event_type = type;
    event.element.port_num = port;
    tell(event);
  }
  void tell(const ibv_async_event& event) {
    fake_.events.push_back(event);
    EXPECT_TRUE(device_->next_event().has_value());
  }
  void tell_of(ibv_qp* pair) {
    ibv_async_event event{};
    event.event_type = IBV_EVENT_QP_ACCESS_ERR;
    event.element.qp = pair;
    tell(event);
  }
  void tell_of(ibv_cq* queue) {
    ibv_async_event event{};
    event.event_type = IBV_EVENT_CQ_ERR;
    event.element.cq = queue;
    tell(event);
  }
  std::unique_ptr<VerbsQueuePair> make_pair() { return VerbsQueuePair::create(device_, fake_.gid, 1, {}).value(); }
  // The device flushes what was posted.
  std::string why_it_ended(VerbsQueuePair& pair) {
    ibv_wc flushed{};
    flushed.status = IBV_WC_WR_FLUSH_ERR;
    fake_.unasked.push_back(flushed);
    RdmaCompletion completion{};
    return std::string(pair.poll({&completion, 1}).status().message());
  }

  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0", VerbsGid{3, {std::byte{0xfe}, std::byte{0x80}}});
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

constexpr char kFlushed[] =
    "RDMA device mlx5_0: the device ended the connection: the neighbour broke its rules, or the port failed (some "
    "error)";

TEST_F(VerbsEventsTest, WhatWasSaidOfAQueuePairIsSaidOnceItHasEnded) {
  const auto other = make_pair();
  auto pair = make_pair();
  tell_of(fake_.last_pair);
  EXPECT_TRUE(pair->health().ok()) << "its flushes say more, and come";
  EXPECT_EQ(why_it_ended(*pair), std::string(kFlushed) + "; RDMA device mlx5_0: local access violation");
  EXPECT_EQ(why_it_ended(*other), kFlushed);
  const void* const gone = fake_.last_pair;
  EXPECT_NE(device_->last_async_error(gone), "");
  pair.reset();
  EXPECT_EQ(device_->last_async_error(gone), "") << "another may get its place";
}

// It reports nothing any more, so whoever waits would wait for ever.
TEST_F(VerbsEventsTest, ACompletionQueueThatFailedEndsItsHopAndNoOther) {
  const auto other = make_pair();
  auto pair = make_pair();
  tell_of(fake_.last_queue);
  EXPECT_EQ(pair->health(), absl::UnavailableError("RDMA device mlx5_0: CQ error"));
  EXPECT_TRUE(other->health().ok());
  EXPECT_TRUE(device_->health(1).ok());
  const void* const gone = fake_.last_queue;
  pair.reset();
  EXPECT_EQ(device_->last_async_error(gone), "");
  EXPECT_TRUE(make_pair()->health().ok());
}

TEST_F(VerbsEventsTest, LastWordsOfNoMoreThanSoManyAreKept) {
  std::vector<ibv_qp> pairs(VerbsDevice::kMaxAsyncErrors + 1);
  for (ibv_qp& each : pairs) tell_of(&each);
  EXPECT_NE(device_->last_async_error(&pairs[VerbsDevice::kMaxAsyncErrors - 1]), "");
  EXPECT_EQ(device_->last_async_error(&pairs.back()), "");
  device_->forget(&pairs.front());
  tell_of(&pairs.back());
  EXPECT_NE(device_->last_async_error(&pairs.back()), "");
}

}  // namespace
}  // namespace cableway::host
