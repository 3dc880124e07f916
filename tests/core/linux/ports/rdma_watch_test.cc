#include "core/linux/ports/rdma_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/core/linux/fake_rdma_devices.h"
#include "tests/core/linux/network_namespace.h"

namespace cableway::host {
namespace {

using Kind = VerbsEvent::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RdmaWatchTest : public testing::Test {
 protected:
  struct Report {
    std::string device;
    std::vector<Kind> kinds;
    friend bool operator==(const Report&, const Report&) = default;
  };

  RdmaWatchTest() {
    watch_ = std::make_unique<RdmaWatch>(io_, devices_.open(),
                                         [this](const std::string& device, const std::vector<VerbsEvent>& events) {
                                           Report report{device, {}};
                                           for (const VerbsEvent& event : events) report.kinds.push_back(event.kind);
                                           reports_.push_back(std::move(report));
                                           if (on_report_) on_report_();
                                         });
  }
  bool becomes(const std::function<bool()>& done) { return test::runs_until(io_, done); }
  // Runs handlers that are due now, without waiting for more.
  void run_due_handlers() {
    io_.restart();
    io_.poll();
  }

  boost::asio::io_context io_;
  test::FakeRdmaDevices devices_;
  std::vector<Report> reports_;
  std::function<void()> on_report_;
  std::unique_ptr<RdmaWatch> watch_;
};

TEST_F(RdmaWatchTest, ReportsEventsOfADevicesPorts) {
  watch_->follow({"a", "b"});
  EXPECT_EQ(devices_["a"].open_now, 1);
  EXPECT_EQ(watch_->trouble("a"), "");
  EXPECT_EQ(watch_->active_mtu("a", 2), 2048U);
  devices_.raise("a", Kind::kPortError, 1);
  EXPECT_TRUE(becomes([&] { return reports_.size() == 1; }));
  devices_.raise("b", Kind::kPortActive, 2);
  EXPECT_TRUE(becomes([&] { return reports_.size() == 2; }));
  EXPECT_THAT(reports_, ElementsAre(Report{"a", {Kind::kPortError}}, Report{"b", {Kind::kPortActive}}));
}

TEST_F(RdmaWatchTest, ReportsAddressChangesOnceAndQueuePairErrorsNever) {
  watch_->follow({"a"});
  for (int i = 0; i < 10; ++i) devices_.raise("a", Kind::kGidChange, 1);
  devices_.raise("a", Kind::kGidChange, 2);
  devices_.raise("a", Kind::kQueueFatal);
  devices_.raise("a", Kind::kOther);
  EXPECT_TRUE(becomes([&] { return devices_["a"].events.empty(); }));
  run_due_handlers();
  EXPECT_THAT(reports_, ElementsAre(Report{"a", {Kind::kGidChange, Kind::kGidChange}}));
}

TEST_F(RdmaWatchTest, ADeviceWithManyEventsDoesNotStarveTheThread) {
  watch_->follow({"a"});
  for (int i = 0; i < 1000; ++i) devices_.raise("a", Kind::kPortError, 1);
  EXPECT_TRUE(becomes([&] { return !reports_.empty(); }));
  EXPECT_LE(reports_[0].kinds.size(), 64U);
  EXPECT_TRUE(becomes([&] { return devices_["a"].events.empty(); })) << "reading continues";
}

TEST_F(RdmaWatchTest, AFailedDeviceIsClosedAndReopenedWhenItRecovers) {
  watch_->follow({"a"});
  devices_["a"].trouble = absl::FailedPreconditionError("cannot be opened");
  devices_.raise("a", Kind::kDeviceFatal);
  EXPECT_TRUE(becomes([&] { return !reports_.empty(); }));
  EXPECT_THAT(reports_, ElementsAre(Report{"a", {Kind::kDeviceFatal}}));
  EXPECT_EQ(devices_["a"].open_now, 0);
  EXPECT_EQ(watch_->trouble("a"), "RDMA device a: event: it has failed and has not recovered yet");
  EXPECT_EQ(watch_->active_mtu("a", 1), 0U);
  watch_->follow({"a"});
  EXPECT_EQ(devices_["a"].tries, 1) << "not retried at once";

  EXPECT_TRUE(becomes([&] { return devices_["a"].tries == 2; })) << "retried after a pause";
  EXPECT_EQ(watch_->trouble("a"), "cannot be opened");
  EXPECT_EQ(reports_.size(), 1U);
  devices_["a"].trouble = absl::OkStatus();
  EXPECT_TRUE(becomes([&] { return reports_.size() == 2; }));
  EXPECT_EQ(reports_[1], (Report{"a", {}}));
  EXPECT_EQ(watch_->trouble("a"), "");
  EXPECT_EQ(devices_["a"].open_now, 1);
  devices_.raise("a", Kind::kPortActive, 1);
  EXPECT_TRUE(becomes([&] { return reports_.size() == 3; })) << "its events are read again";
}

TEST_F(RdmaWatchTest, AMissingPrerequisiteIsNotRetriedByTimer) {
  devices_["a"].trouble = absl::NotFoundError("this host has no libibverbs.so.1");
  devices_["b"].trouble = absl::PermissionDeniedError("not yours");
  watch_->follow({"a", "b"});
  EXPECT_EQ(watch_->trouble("a"), "this host has no libibverbs.so.1");
  EXPECT_TRUE(becomes([&] { return devices_["b"].tries == 2; }));
  EXPECT_EQ(devices_["a"].tries, 1);
  watch_->follow({"a", "b"});
  EXPECT_EQ(devices_["a"].tries, 2);
}

TEST_F(RdmaWatchTest, ADeviceNoLongerFollowedIsClosed) {
  watch_->follow({"a", "b"});
  watch_->follow({"b"});
  EXPECT_EQ(devices_["a"].open_now, 0);
  EXPECT_EQ(devices_["b"].open_now, 1);
  devices_.raise("a", Kind::kPortError, 1);
  devices_.raise("b", Kind::kPortError, 1);
  EXPECT_TRUE(becomes([&] { return !reports_.empty(); }));
  run_due_handlers();
  EXPECT_THAT(reports_, ElementsAre(Report{"b", {Kind::kPortError}}));
  watch_.reset();
  EXPECT_EQ(devices_["b"].open_now, 0);
}

TEST_F(RdmaWatchTest, AReadableDescriptorWithoutEventsDoesNotKeepTheThreadBusy) {
  devices_["a"].readable_for_ever = true;
  watch_->follow({"a"});
  devices_.wake("a");
  EXPECT_TRUE(becomes([&] { return devices_["a"].polls == 1; }));
  for (int i = 0; i < 100; ++i) run_due_handlers();
  // The next read comes a second later.
  EXPECT_LE(devices_["a"].polls, 10);
  EXPECT_TRUE(becomes([&] { return devices_["a"].polls >= 2; }));
  EXPECT_THAT(reports_, IsEmpty());
}

TEST_F(RdmaWatchTest, ItsCallbackMayDestroyIt) {
  watch_->follow({"a", "b"});
  on_report_ = [this] { watch_.reset(); };
  devices_.raise("a", Kind::kDeviceFatal);
  devices_.raise("b", Kind::kDeviceFatal);
  EXPECT_TRUE(becomes([&] { return watch_ == nullptr; }));
  run_due_handlers();
  EXPECT_EQ(reports_.size(), 1U);
  EXPECT_EQ(devices_["b"].open_now, 0);
}

TEST_F(RdmaWatchTest, SleepsWithoutEvents) {
  watch_->follow({"a"});
  io_.restart();
  EXPECT_EQ(io_.run_for(std::chrono::milliseconds(100)), 0U);
}

TEST(OpenVerbsDevices, ReportsAMissingDevice) {
  const auto opened = open_verbs_devices()("mlx9_9");
  EXPECT_FALSE(opened.ok());
  EXPECT_THAT(opened.status().message(),
              testing::AnyOf(HasSubstr("mlx9_9"), HasSubstr("libibverbs"), HasSubstr("RDMA devices cannot be listed")));
}

}  // namespace
}  // namespace cableway::host
