// A device's health as reported by its events, and when it recovers.
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
  void report(ibv_event_type type, int port) {
    ibv_async_event event{};
    event.event_type = type;
    event.element.port_num = port;
    report(event);
  }
  void report(const ibv_async_event& event) {
    fake_.events.push_back(event);
    EXPECT_TRUE(device_->next_event().has_value());
  }
  void tell_of(ibv_qp* pair) {
    ibv_async_event event{};
    event.event_type = IBV_EVENT_QP_ACCESS_ERR;
    event.element.qp = pair;
    report(event);
  }
  void tell_of(ibv_cq* queue) {
    ibv_async_event event{};
    event.event_type = IBV_EVENT_CQ_ERR;
    event.element.cq = queue;
    report(event);
  }
  std::unique_ptr<VerbsQueuePair> make_pair() { return VerbsQueuePair::create(device_, fake_.gid, 1, {}).value(); }
  // The device flushes the posted requests.
  std::string why_it_ended(VerbsQueuePair& pair) {
    ibv_wc flushed{};
    flushed.status = IBV_WC_WR_FLUSH_ERR;
    fake_.extra_completions.push_back(flushed);
    RdmaCompletion completion{};
    return std::string(pair.poll({&completion, 1}).status().message());
  }

  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0", VerbsGid{3, {std::byte{0xfe}, std::byte{0x80}}});
  const std::shared_ptr<VerbsDevice> device_ = verbs_.open(fake_);
  const absl::Status port_failed_ = absl::UnavailableError("RDMA device mlx5_0: port error");
};

TEST_F(VerbsEventsTest, AFailedPortIsInTroubleUntilTheDeviceReportsItActive) {
  EXPECT_TRUE(device_->health(1).ok());
  report(IBV_EVENT_PORT_ERR, 1);
  EXPECT_EQ(device_->health(1), port_failed_);
  EXPECT_TRUE(device_->health(2).ok());
  report(IBV_EVENT_PORT_ACTIVE, 1);
  EXPECT_TRUE(device_->health(1).ok());
}

TEST_F(VerbsEventsTest, AFailedPortIsInTroubleUntilItIsFoundActive) {
  fake_.port_state = IBV_PORT_DOWN;
  report(IBV_EVENT_PORT_ERR, 1);
  report(IBV_EVENT_PORT_ERR, 2);
  EXPECT_FALSE(device_->active_mtu(1).ok());
  EXPECT_EQ(device_->health(1), port_failed_);
  fake_.port_state = IBV_PORT_ACTIVE;
  EXPECT_EQ(device_->active_mtu(1).value(), 4096U);
  EXPECT_TRUE(device_->health(1).ok());
  EXPECT_EQ(device_->health(2), port_failed_) << "port 2 was not queried";
  EXPECT_TRUE(device_->active_mtu(2).ok());
  EXPECT_TRUE(device_->health(2).ok());
  report(IBV_EVENT_PORT_ERR, 1);
  EXPECT_EQ(device_->health(1), port_failed_) << "after another error";
}

// It is unknown which of the two is newer.
TEST_F(VerbsEventsTest, AnErrorDuringAQueryOfThePortStays) {
  for (const bool before_too : {false, true}) {
    SCOPED_TRACE(before_too);
    if (before_too) report(IBV_EVENT_PORT_ERR, 1);
    fake_.while_port_is_queried = [&] { report(IBV_EVENT_PORT_ERR, 1); };
    EXPECT_TRUE(device_->active_mtu(1).ok());
    EXPECT_EQ(device_->health(1), port_failed_);
    fake_.while_port_is_queried = nullptr;
    EXPECT_TRUE(device_->active_mtu(1).ok());
    EXPECT_TRUE(device_->health(1).ok());
  }
}

TEST_F(VerbsEventsTest, AFailedDeviceStaysInTroubleWhateverItsPortsReport) {
  report(IBV_EVENT_DEVICE_FATAL, 0);
  EXPECT_TRUE(device_->is_lost());
  EXPECT_TRUE(device_->active_mtu(1).ok());
  EXPECT_EQ(device_->health(1), absl::UnavailableError("RDMA device mlx5_0: some event"));
}

constexpr char kFlushed[] =
    "RDMA device mlx5_0: the device ended the connection: the neighbour violated the protocol, or the port failed "
    "(some "
    "error)";

TEST_F(VerbsEventsTest, AQueuePairsErrorEventIsReportedOnceItHasEnded) {
  const auto other = make_pair();
  auto pair = make_pair();
  tell_of(fake_.last_pair);
  EXPECT_TRUE(pair->health().ok()) << "its flushed completions follow with the reason";
  EXPECT_EQ(why_it_ended(*pair), std::string(kFlushed) + "; RDMA device mlx5_0: local access violation");
  EXPECT_EQ(why_it_ended(*other), kFlushed);
  const void* const gone = fake_.last_pair;
  EXPECT_NE(device_->last_async_error(gone), "");
  pair.reset();
  EXPECT_EQ(device_->last_async_error(gone), "") << "another may get its address";
}

// It reports no more completions, so its users would wait without end.
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

TEST_F(VerbsEventsTest, ALimitedNumberOfErrorEventsIsStored) {
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
