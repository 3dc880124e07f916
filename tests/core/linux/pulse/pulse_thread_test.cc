// Two threads that pulse each other over a pair of interfaces in two namespaces.
#include "core/linux/pulse/pulse_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/core/linux/cable_in_namespaces.h"

namespace cableway::host {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Long, as machines may be slow.
constexpr auto kPatience = 20s;

// What one end's thread has reported.
class Reports {
 public:
  PulseThread::Listener listener() {
    return {[this](const PulsedCable& /*cable*/, const CableVerdict& verdict) { add(verdicts_, verdict); },
            [](const PulsedCable& /*cable*/, unsigned /*percent*/) {},
            [this](const PulsedCable& /*cable*/, const std::string& reason) { add(failures_, reason); }};
  }
  // The trust in the cable; that in which it begins, if there was no verdict.
  bool trust_becomes(CableTrust trust) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return !verdicts_.empty() && verdicts_.back().trust == trust; });
  }
  bool fails() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return !failures_.empty(); });
  }
  std::vector<CableVerdict> verdicts() {
    const std::lock_guard lock(mutex_);
    return verdicts_;
  }
  std::vector<std::string> failures() {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

 private:
  template <typename Report>
  void add(std::vector<Report>& reports, const Report& report) {
    const std::lock_guard lock(mutex_);
    reports.push_back(report);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<CableVerdict> verdicts_;
  std::vector<std::string> failures_;
};

class PulseThreadTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::why_no_network_namespaces(); !why.empty()) GTEST_SKIP() << why;
    cable_.emplace();
    near_end_ = {{1}, cable_->near_interface()};
    far_end_ = {{2}, cable_->far_interface()};
  }
  void TearDown() override {
    near_thread_.reset();
    far_thread_.reset();
  }

  PulsedCable cable_at(bool is_near) const {
    PulsedCable cable;
    cable.name = "c0";
    cable.interface = is_near ? "near" : "far";
    cable.neighbour = is_near ? "n2" : "n1";
    cable.own = is_near ? near_end_ : far_end_;
    cable.other = is_near ? far_end_ : near_end_;
    cable.own_boot_nonce = cable.other_boot_nonce = 1;
    cable.own_address = *routing::parse_port_address(is_near ? "10.9.0.1" : "10.9.0.2");
    cable.other_address = *routing::parse_port_address(is_near ? "10.9.0.2" : "10.9.0.1");
    return cable;
  }
  std::unique_ptr<PulseThread> start(bool is_near, Reports& reports) {
    is_near ? cable_->at_near() : cable_->at_far();
    auto thread = PulseThread::start({10ms, 7472}, seal_, reports.listener());
    EXPECT_TRUE(thread.ok()) << thread.status();
    (*thread)->set_cables({cable_at(is_near)});
    return *std::move(thread);
  }
  void start_both() {
    near_thread_ = start(true, near_reports_);
    far_thread_ = start(false, far_reports_);
  }
  // Only the silence of a neighbour that was heard is noticed.
  void wait_until_both_pulse() const { std::this_thread::sleep_for(500ms); }

  const NoSeal seal_{};
  std::optional<test::CableInNamespaces> cable_;
  CableEnd near_end_;
  CableEnd far_end_;
  Reports near_reports_;
  Reports far_reports_;
  std::unique_ptr<PulseThread> near_thread_;
  std::unique_ptr<PulseThread> far_thread_;
};

TEST_F(PulseThreadTest, ACableThatWorksHasNoVerdict) {
  start_both();
  wait_until_both_pulse();
  EXPECT_THAT(near_reports_.verdicts(), IsEmpty());
  EXPECT_THAT(far_reports_.verdicts(), IsEmpty());
  EXPECT_THAT(near_reports_.failures(), IsEmpty());
}

TEST_F(PulseThreadTest, ASilentCableIsFoundAndCountsAgain) {
  start_both();
  wait_until_both_pulse();
  cable_->set_far("down");
  ASSERT_TRUE(near_reports_.trust_becomes(CableTrust::kNone));
  EXPECT_THAT(near_reports_.verdicts().back().reason, HasSubstr("nothing was heard for "));
  cable_->set_far("up");
  EXPECT_TRUE(near_reports_.trust_becomes(CableTrust::kAll));
}

TEST_F(PulseThreadTest, AnEndThatHasEndedIsNotSilent) {
  start_both();
  wait_until_both_pulse();
  far_thread_.reset();
  std::this_thread::sleep_for(500ms);
  EXPECT_THAT(near_reports_.verdicts(), IsEmpty());
}

TEST_F(PulseThreadTest, ASocketThatCannotBeOpenedIsReportedOnce) {
  cable_->at_near();
  Reports reports;
  auto thread = PulseThread::start({10ms, 7472}, seal_, reports.listener());
  ASSERT_TRUE(thread.ok());
  PulsedCable cable = cable_at(true);
  cable.own_address = *routing::parse_port_address("10.9.0.99");
  (*thread)->set_cables({cable});
  ASSERT_TRUE(reports.fails());
  EXPECT_THAT(reports.failures()[0], HasSubstr("10.9.0.99"));
  std::this_thread::sleep_for(2500ms);
  EXPECT_EQ(reports.failures().size(), 1U);
}

}  // namespace
}  // namespace cableway::host
