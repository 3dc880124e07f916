// What a process reports to its node of a flow's circuits.
#include "nccl_adapter/process/circuit_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "routing/topology/cable_name.h"

namespace cableway::nccl {
namespace {

using std::chrono::milliseconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr CircuitName kFirst{0, 1};
constexpr CircuitName kSecond{1, 1};

CircuitSetup setup_of(const CircuitName& circuit, const std::string& relay) {
  CircuitSetup setup;
  setup.circuit = circuit;
  setup.flow = 7;
  setup.from_node = "n0";
  const auto cable = [](const std::string& from, const std::string& to) {
    return routing::discovered_cable_name(from, "to-" + to, to, "to-" + from);
  };
  setup.hops = {{cable("n0", relay), "10.0.0.1", relay, "10.0.0.2", 7470, false},
                {cable(relay, "n2"), "10.0.0.3", "n2", "10.0.0.4", 7471, false}};
  return setup;
}

class CircuitReportsTest : public ::testing::Test {
 protected:
  CircuitReportsTest() {
    reports_.joined(setup_of(kFirst, "n1"), {"tcp", "why"}, at(0));
    reports_.joined(setup_of(kSecond, "n3"), {"tcp", "why not"}, at(400));
    activity_.live = {kFirst, kSecond};
    activity_.traffic.carried(kFirst, 1000);
  }
  static CircuitReports::Instant at(int ms) { return CircuitReports::Instant{} + milliseconds(1000 + ms); }

  CircuitReports reports_{true};
  FlowActivity activity_;
};

TEST_F(CircuitReportsTest, TheFlowIsReportedWithItsFirstCircuit) {
  const FlowOpened& opened = reports_.opened().value();
  EXPECT_EQ(opened.flow, 7U);
  EXPECT_EQ(opened.node, "n2");
  EXPECT_TRUE(opened.sends);
  EXPECT_EQ(opened.path, "n0 -> n1 -> n2");
  EXPECT_EQ(opened.port, "to-n1");
  EXPECT_EQ(opened.transport.reason, "why");
}

TEST_F(CircuitReportsTest, AFlowThatEndsHereIsReportedFromItsOtherEnd) {
  CircuitReports receives(false);
  CircuitSetup setup = setup_of(kFirst, "n1");
  setup.hop = 1;
  receives.joined(setup, {"tcp", "why"}, at(0));
  EXPECT_EQ(receives.opened()->node, "n0");
  EXPECT_FALSE(receives.opened()->sends);
  EXPECT_EQ(receives.opened()->port, "to-n1");
}

TEST_F(CircuitReportsTest, CountsWhatEachLiveCircuitHasCarried) {
  activity_.traffic.carried(kSecond, 500);
  activity_.carrier = kSecond;
  activity_.traffic.repeated(200);
  activity_.traffic.stalled(kSecond.slot, milliseconds(30));
  activity_.traffic.kept_away(kSecond.slot, milliseconds(2));
  const FlowCounts counts = reports_.counts(activity_, at(1000));
  EXPECT_EQ(counts.bytes, 1300U);
  EXPECT_EQ(counts.bytes_again, 200U);
  ASSERT_THAT(counts.circuits, SizeIs(2));
  EXPECT_EQ(counts.circuits[0].path, "n0 -> n1 -> n2");
  EXPECT_EQ(counts.circuits[0].bytes, 1000U);
  EXPECT_EQ(counts.circuits[0].open_ms, 1000U);
  EXPECT_FALSE(counts.circuits[0].carries);
  EXPECT_EQ(counts.circuits[1].port, "to-n3");
  EXPECT_EQ(counts.circuits[1].open_ms, 600U);
  EXPECT_EQ(counts.circuits[1].stalled_us, 30'000U);
  EXPECT_EQ(counts.circuits[1].kept_away_us, 2'000U);
  EXPECT_TRUE(counts.circuits[1].carries);
}

TEST_F(CircuitReportsTest, ACircuitThatHasEndedIsNotListed) {
  activity_.live = {CircuitName{}, kSecond};
  EXPECT_EQ(reports_.counts(activity_, at(1000)).circuits.at(0).path, "n0 -> n3 -> n2");
  activity_.live = {CircuitName{0, 2}, CircuitName{}};
  EXPECT_THAT(reports_.counts(activity_, at(1000)).circuits, IsEmpty()) << "another generation";
}

TEST_F(CircuitReportsTest, ReroutesAddUp) {
  EXPECT_FALSE(reports_.rerouted(activity_).has_value());
  activity_.reroute = Reroute{kSecond, "reset", milliseconds(14), 1, 640};
  const FlowRerouted first = reports_.rerouted(activity_).value();
  EXPECT_EQ(first.path, "n0 -> n3 -> n2");
  EXPECT_EQ(first.cause, "reset");
  EXPECT_EQ(first.pause_us, 14'000U);
  EXPECT_EQ(first.bytes_again, 640U);
  activity_.reroute = Reroute{kFirst, "", {}, 2, 0};
  EXPECT_EQ(reports_.rerouted(activity_)->times, 2U);
  const FlowCounts counts = reports_.counts(activity_, at(0));
  EXPECT_EQ(counts.reroutes, 3U);
  EXPECT_EQ(counts.pause_us, 14'000U);
}

class RetiredCircuitsTest : public CircuitReportsTest {
 protected:
  void end(const CircuitName& circuit, CircuitEndKind kind, int ms) {
    CommCircuits::Ended ended;
    ended.ends.push_back({circuit, kind, "why\n", kind != CircuitEndKind::kFailed, 0});
    reports_.ended(ended, at(ms));
    activity_.live[circuit.slot] = {};
    activity_.counted[circuit.slot] = {circuit, kind != CircuitEndKind::kFailed, 0};
  }
  std::vector<CircuitRetired> retired(int ms) { return reports_.retired(activity_, at(ms)); }
  std::uint64_t count(CircuitEndKind kind) const {
    return reports_.counts(activity_, at(0)).retired[static_cast<std::size_t>(kind)];
  }
};

// A standby, or an alternate: the flow itself notices nothing.
TEST_F(RetiredCircuitsTest, ACircuitThatCarriedNothingIsReportedOnce) {
  end(kSecond, CircuitEndKind::kCorrupted, 1000);
  EXPECT_THAT(retired(1100), IsEmpty());
  const std::vector<CircuitRetired> reports = retired(1200);
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0], (CircuitRetired{0, "n0 -> n3 -> n2", CircuitEndKind::kCorrupted, "why?", 0}));
  EXPECT_THAT(retired(9000), IsEmpty());
  EXPECT_EQ(count(CircuitEndKind::kCorrupted), 1U);
  EXPECT_EQ(count(CircuitEndKind::kFailed), 0U);
}

TEST_F(RetiredCircuitsTest, WaitsUntilItIsKnownWhatIsSentAgain) {
  end(kSecond, CircuitEndKind::kFailed, 0);
  EXPECT_THAT(retired(4900), IsEmpty());
  activity_.counted[kSecond.slot] = {kSecond, true, 640};
  ASSERT_THAT(retired(4901), SizeIs(1));
  end(kFirst, CircuitEndKind::kFailed, 5000);
  activity_.waits = "why";
  EXPECT_THAT(retired(9900), IsEmpty());
  EXPECT_THAT(retired(10000), SizeIs(1)) << "not for ever";
  EXPECT_EQ(count(CircuitEndKind::kFailed), 2U);
}

TEST_F(RetiredCircuitsTest, TellsWhatIsSentAgainThoughTheSlotIsInUse) {
  reports_.joined(setup_of({1, 2}, "n4"), {"tcp", "why"}, at(0));
  end(kSecond, CircuitEndKind::kFailed, 0);
  activity_.counted[kSecond.slot] = {kSecond, true, 640};
  const std::vector<CircuitRetired> reports = retired(200);
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].path, "n0 -> n3 -> n2");
  EXPECT_EQ(reports[0].bytes_again, 640U);
}

// The job has ended, and the other end has closed the flow.
TEST_F(RetiredCircuitsTest, OfAnIdleFlowWithoutCircuitsNothingIsReportedUntilItGoesOn) {
  end(kFirst, CircuitEndKind::kClosed, 0);
  end(kSecond, CircuitEndKind::kClosed, 0);
  EXPECT_THAT(retired(60000), IsEmpty());
  EXPECT_EQ(count(CircuitEndKind::kClosed), 0U);
  activity_.live[2] = {2, 1};
  EXPECT_THAT(retired(60001), SizeIs(2));
  EXPECT_EQ(count(CircuitEndKind::kClosed), 2U);
}

TEST_F(RetiredCircuitsTest, AnyNumberOfThemIsRemembered) {
  activity_.live = {};
  for (int i = 0; i < 1000; ++i) end(kSecond, CircuitEndKind::kClosed, i);
  activity_.live[2] = {2, 1};
  EXPECT_THAT(retired(5000), SizeIs(2 * kMaxFlowCircuits));
  EXPECT_EQ(count(CircuitEndKind::kClosed), 1000U);
}

TEST_F(CircuitReportsTest, AWaitIsReportedOnceAfterASecond) {
  activity_.waits = "carrier lost\n";
  EXPECT_FALSE(reports_.waits(activity_, at(0)).has_value());
  EXPECT_FALSE(reports_.waits(activity_, at(999)).has_value());
  EXPECT_EQ(reports_.waits(activity_, at(1000)).value().cause, "carrier lost?");
  EXPECT_FALSE(reports_.waits(activity_, at(5000)).has_value());
  activity_.waits = "";
  EXPECT_FALSE(reports_.waits(activity_, at(6000)).has_value());
  activity_.waits = "carrier lost";
  EXPECT_FALSE(reports_.waits(activity_, at(7000)).has_value());
  EXPECT_TRUE(reports_.waits(activity_, at(8000)).has_value()) << "another wait";
}

}  // namespace
}  // namespace cableway::nccl
