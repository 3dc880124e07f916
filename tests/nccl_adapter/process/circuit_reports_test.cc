// What a process reports to its node of a flow's circuits.
#include "nccl_adapter/process/circuit_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

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
  setup.hops = {{"n0.to-" + relay + "-" + relay + ".to-n0", "10.0.0.1", relay, "10.0.0.2", 7470, false},
                {relay + ".to-n2-n2.to-" + relay, "10.0.0.3", "n2", "10.0.0.4", 7471, false}};
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
