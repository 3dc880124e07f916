#include "core/event/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "sim/virtual_clock.h"
#include "tests/core/event/recorded_events.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr WallTime kMorning = std::chrono::sys_days(std::chrono::March / 1 / 2026) + 12h + 34min + 56789ms;

class EventLogTest : public testing::Test {
 protected:
  std::size_t kept(EventCode code) const {
    const std::vector<Event> events = log_.events();
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [&](const Event& each) { return each.code == code; }));
  }
  // Raises events slowly enough that none is left out.
  void raise_slowly(EventCode code, std::size_t number) {
    for (std::size_t i = 0; i < number; ++i) {
      log_.raise(code, "event " + std::to_string(i));
      clock_.run_for(200ms);
    }
  }

  sim::VirtualClock clock_;
  std::vector<Event> heard_;
  EventLog log_{7, clock_,
                [this] { return kMorning + std::chrono::floor<std::chrono::milliseconds>(clock_.now().since_start); },
                [this](const Event& event) { heard_.push_back(event); }};
};

TEST_F(EventLogTest, ReportsWhatWasLeftOutBeforeItEnds) {
  for (std::uint64_t i = 0; i < EventLog::kBurst + 3; ++i) log_.raise(EventCode::kCircuitRefused, "refused");
  log_.report_left_out();
  EXPECT_THAT(heard_.back().fields, ElementsAre(EventField{"left_out", "3"}));
  const std::size_t reported = heard_.size();
  log_.report_left_out();
  clock_.run_for(2s);
  EXPECT_EQ(heard_.size(), reported);
}

TEST_F(EventLogTest, KeepsAndReportsEvents) {
  clock_.run_for(250ms);
  log_.raise(EventCode::kCableUp, "cable eth1 is up", {{"port", "eth1"}, {"neighbour", "n1"}});
  log_.raise(EventCode::kCableLost, "cable eth1 is down");
  const std::vector<Event> events = log_.events();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].number, 1U);
  EXPECT_EQ(events[0].at.since_start, 250ms);
  EXPECT_EQ(rfc3339(events[0].time), "2026-03-01T12:34:57.039Z");
  EXPECT_EQ(events[0].code, EventCode::kCableUp);
  EXPECT_EQ(events[0].severity(), EventSeverity::kInfo);
  EXPECT_THAT(events[0].fields, ElementsAre(EventField{"port", "eth1"}, EventField{"neighbour", "n1"}));
  EXPECT_EQ(events[0].text, "cable eth1 is up");
  EXPECT_EQ(events[1].number, 2U);
  EXPECT_EQ(events[1].severity(), EventSeverity::kWarning);
  ASSERT_THAT(heard_, SizeIs(2));
  EXPECT_EQ(heard_[1].text, "cable eth1 is down");
  EXPECT_EQ(log_.incarnation(), 7U);
}

TEST_F(EventLogTest, CountsByCode) {
  log_.raise(EventCode::kCableUp, "up");
  log_.raise(EventCode::kCableUp, "up");
  EXPECT_EQ(log_.count(EventCode::kCableUp), 2U);
  EXPECT_EQ(log_.count(EventCode::kCableLost), 0U);
}

TEST_F(EventLogTest, LimitsTheRateAndReportsTheNumberLeftOut) {
  for (int i = 0; i < 1000; ++i) log_.raise(EventCode::kCircuitRefused, "refused");
  log_.raise(EventCode::kCircuitBroken, "broken");
  EXPECT_EQ(kept(EventCode::kCircuitRefused), EventLog::kBurst);
  EXPECT_EQ(kept(EventCode::kCircuitBroken), 1U) << "another code";
  EXPECT_EQ(log_.count(EventCode::kCircuitRefused), 1000U);
  EXPECT_EQ(log_.left_out(EventCode::kCircuitRefused), 1000 - EventLog::kBurst);
  clock_.run_for(1s);
  ASSERT_EQ(heard_.size(), EventLog::kBurst + 2);
  EXPECT_EQ(heard_.back().code, EventCode::kCircuitRefused);
  EXPECT_THAT(heard_.back().fields, ElementsAre(EventField{"left_out", "936"}));
  EXPECT_THAT(heard_.back().text, HasSubstr("936 more"));
  EXPECT_EQ(log_.count(EventCode::kCircuitRefused), 1000U) << "left-out events are counted once";
  clock_.run_for(10s);
  EXPECT_EQ(heard_.size(), EventLog::kBurst + 2) << "and reported once";
}

TEST_F(EventLogTest, SustainsTheRateLimit) {
  for (int i = 0; i < 10'000; ++i) {
    log_.raise(EventCode::kCircuitRefused, "refused");
    clock_.run_for(1ms);
  }
  const std::size_t summaries = static_cast<std::size_t>(std::count_if(
      heard_.begin(), heard_.end(), [](const Event& event) { return test::field_of(event.fields, "left_out") != ""; }));
  EXPECT_NEAR(static_cast<double>(heard_.size() - summaries), EventLog::kBurst + 10.0 * EventLog::kPerSecond, 2.0);
  EXPECT_LE(summaries, 10U);
}

TEST_F(EventLogTest, AllowsManyDebugEvents) {
  for (int i = 0; i < 900; ++i) log_.raise(EventCode::kSetupArrived, "arrived");
  EXPECT_THAT(heard_, SizeIs(900));
  EXPECT_EQ(kept(EventCode::kSetupArrived), EventLog::kKeptOfSeverity[0]);
}

TEST_F(EventLogTest, NoSeverityEvictsAnother) {
  raise_slowly(EventCode::kCableLost, 5);
  raise_slowly(EventCode::kNotListening, 5);
  raise_slowly(EventCode::kConnectionRefused, 2000);
  raise_slowly(EventCode::kPathRequested, 2000);
  EXPECT_EQ(kept(EventCode::kCableLost), 5U);
  EXPECT_EQ(kept(EventCode::kNotListening), 5U);
  EXPECT_EQ(kept(EventCode::kConnectionRefused), EventLog::kKeptOfSeverity[1]);
  EXPECT_EQ(kept(EventCode::kPathRequested), EventLog::kKeptOfSeverity[0]);
}

TEST_F(EventLogTest, EvictsTheCodeWithTheMost) {
  raise_slowly(EventCode::kKeyMissing, 1);
  raise_slowly(EventCode::kFlowFailed, 20);
  raise_slowly(EventCode::kCableLost, 2000);
  EXPECT_EQ(kept(EventCode::kKeyMissing), 1U);
  EXPECT_EQ(kept(EventCode::kFlowFailed), 20U);
  EXPECT_EQ(kept(EventCode::kCableLost), EventLog::kKeptOfSeverity[2] - 21);
  const std::vector<Event> events = log_.events();
  EXPECT_EQ(events.back().text, "event 1999") << "the newest stay";
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(),
                             [](const Event& left, const Event& right) { return left.number < right.number; }));
}

TEST_F(EventLogTest, IsBounded) {
  for (int round = 0; round < 1500; ++round) {
    for (const EventKind& kind : event_kinds()) log_.raise(kind.code, "again");
    clock_.run_for(150ms);
    ASSERT_LE(log_.size(), EventLog::kKept);
  }
  EXPECT_EQ(log_.size(), EventLog::kKept);
  EXPECT_EQ(log_.events().size(), EventLog::kKept);
}

TEST_F(EventLogTest, TextsAndFieldsAreBoundedAndPrintable) {
  EventFields fields(20, EventField{"reason", std::string(5000, 'x')});
  log_.raise(EventCode::kCircuitRefused, std::string(100'000, 'y'), fields);
  log_.raise(EventCode::kCircuitRefused, "two\nlines\x1b[31m", {{"reason", "\x80\n"}});
  ASSERT_THAT(heard_, SizeIs(2));
  EXPECT_EQ(heard_[0].text.size(), EventLog::kMaxTextBytes);
  EXPECT_TRUE(heard_[0].text.ends_with("yy.."));
  ASSERT_THAT(heard_[0].fields, SizeIs(EventLog::kMaxFields));
  EXPECT_EQ(heard_[0].fields[0].value.size(), EventLog::kMaxFieldBytes);
  EXPECT_EQ(heard_[1].text, "two?lines?[31m");
  EXPECT_EQ(heard_[1].fields[0].value, "??");
}

TEST(WallClock, IsShownAsRfc3339) {
  EXPECT_EQ(rfc3339(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(kMorning), "2026-03-01T12:34:56.789Z");
  EXPECT_EQ(rfc3339(WallTime{-1ms}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(rfc3339(WallTime{std::chrono::sys_days(std::chrono::February / 29 / 2028)}), "2028-02-29T00:00:00.000Z");
}

}  // namespace
}  // namespace cableway
