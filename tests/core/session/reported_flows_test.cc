#include "core/session/reported_flows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/event/event_code.h"
#include "core/event/event_log.h"
#include "sim/virtual_clock.h"

namespace cableway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class EventList final : public EventSink {
 public:
  void raise(EventCode code, std::string text, EventFields fields) override {
    codes.push_back(code);
    texts.push_back(std::move(text));
    EXPECT_LE(fields.size(), EventLog::kMaxFields);
    fields_of.push_back(std::move(fields));
  }
  std::string field(const std::string& name) const {
    for (const EventField& field : fields_of.back()) {
      if (field.key == name) return field.value;
    }
    return "(none)";
  }

  std::vector<EventCode> codes;
  std::vector<std::string> texts;
  std::vector<EventFields> fields_of;
};

class ReportedFlowsTest : public ::testing::Test {
 protected:
  ReportedFlowsTest() {
    FlowOpened flow;
    flow.number = 1;
    flow.node = "n2";
    flow.sends = true;
    flow.path = "n0 -> n1 -> n2";
    flow.port = "to-n1";
    EXPECT_TRUE(flows_.take(kPeer, flow).ok());
  }
  static CircuitCounts over(const std::string& path, std::uint64_t bytes, bool carries = true) {
    CircuitCounts circuit;
    circuit.path = path;
    circuit.port = "port of " + path;
    circuit.bytes = bytes;
    circuit.carries = carries;
    return circuit;
  }
  void count(std::vector<CircuitCounts> circuits) {
    FlowCounts counts;
    counts.number = 1;
    for (const CircuitCounts& circuit : circuits) counts.bytes += circuit.bytes;
    counts.circuits = std::move(circuits);
    ASSERT_TRUE(flows_.take(kPeer, counts).ok());
  }
  void pass(std::chrono::milliseconds time) { clock_.run_for(time); }
  FlowStatus only_flow() const {
    const FlowsStatus status = flows_.status();
    EXPECT_THAT(status.listed, SizeIs(1));
    return status.listed.at(0);
  }

  static constexpr SessionPeer kPeer{1, 4711};
  sim::VirtualClock clock_;
  EventList events_;
  ReportedFlows flows_{clock_, events_};
};

TEST_F(ReportedFlowsTest, ARerouteIsAnEventWithItsPauseAndWhatWasSentAgain) {
  ASSERT_TRUE(
      flows_.take(kPeer, FlowRerouted{1, "n0 -> n3 -> n2", "node n0 port to-n1: carrier lost", 1, 14'200, 65536}).ok());
  EXPECT_EQ(events_.codes.back(), EventCode::kFlowRerouted);
  EXPECT_EQ(
      events_.texts.back(),
      "process 4711: the flow to node n2 goes over n0 -> n3 -> n2 now, after 14.2 ms in which nothing moved; 65536 "
      "bytes were sent again: \"node n0 port to-n1: carrier lost\"");
  EXPECT_EQ(events_.field("path"), "n0 -> n1 -> n2");
  EXPECT_EQ(events_.field("new_path"), "n0 -> n3 -> n2");
  EXPECT_EQ(events_.field("pause_ms"), "14.200");
  EXPECT_EQ(events_.field("bytes_sent_again"), "65536");
  EXPECT_EQ(events_.field("reason"), "node n0 port to-n1: carrier lost");
}

TEST_F(ReportedFlowsTest, SeveralReroutesInOneReportAreNumbered) {
  ASSERT_TRUE(flows_.take(kPeer, FlowRerouted{1, "n0 -> n1 -> n2", "reset", 3, 1, 0}).ok());
  EXPECT_THAT(events_.texts.back(), HasSubstr("goes over n0 -> n1 -> n2 now (3 paths in turn), after 0.0 ms"));
}

TEST_F(ReportedFlowsTest, AReturnToABetterPathIsNoWarning) {
  ASSERT_TRUE(flows_.take(kPeer, FlowRerouted{1, "n0 -> n1 -> n2", "", 1, 0, 0}).ok());
  EXPECT_EQ(events_.codes.back(), EventCode::kFlowReturned);
  EXPECT_EQ(kind_of(events_.codes.back()).severity, EventSeverity::kInfo);
}

TEST_F(ReportedFlowsTest, AFlowThatWaitsIsShownUntilItHasACircuit) {
  ASSERT_TRUE(flows_.take(kPeer, FlowWaits{1, "carrier lost"}).ok());
  EXPECT_EQ(events_.codes.back(), EventCode::kFlowWaiting);
  EXPECT_EQ(only_flow().waits, "carrier lost");
  count({});
  EXPECT_EQ(only_flow().waits, "carrier lost");
  count({over("n0 -> n3 -> n2", 0)});
  EXPECT_EQ(only_flow().waits, "");
}

TEST_F(ReportedFlowsTest, ShowsThePathOfTheCircuitThatCarriesTheFlow) {
  count({over("n0 -> n1 -> n2", 100, false), over("n0 -> n3 -> n2", 50)});
  EXPECT_EQ(only_flow().flow.path, "n0 -> n3 -> n2");
  EXPECT_EQ(only_flow().flow.port, "port of n0 -> n3 -> n2");
  EXPECT_EQ(only_flow().counts.bytes, 150U);
}

TEST_F(ReportedFlowsTest, RatesAreThoseBetweenTheLastTwoReports) {
  count({over("a", 1000)});
  EXPECT_EQ(only_flow().bytes_per_s, std::nullopt);
  pass(std::chrono::milliseconds(500));
  count({over("b", 200, false), over("a", 2500)});
  EXPECT_EQ(only_flow().bytes_per_s, 3400U);
  EXPECT_THAT(only_flow().circuit_bytes_per_s, ElementsAre(std::nullopt, 3000U));
  pass(std::chrono::milliseconds(2600));
  EXPECT_EQ(only_flow().bytes_per_s, 0U) << "what does not change is not reported";
  EXPECT_THAT(only_flow().circuit_bytes_per_s, ElementsAre(std::nullopt, 0U));
}

TEST_F(ReportedFlowsTest, ACorruptionIsAnEvent) {
  ASSERT_TRUE(flows_.take(kPeer, ChunkCorrupted{1, "node n0 port to-n1: chunk corrupted"}).ok());
  EXPECT_EQ(events_.codes.back(), EventCode::kChunkCorrupted);
  EXPECT_EQ(events_.texts.back(), "process 4711: \"node n0 port to-n1: chunk corrupted\"");
  EXPECT_EQ(events_.field("path"), "n0 -> n1 -> n2");
}

TEST_F(ReportedFlowsTest, ACircuitThatHasEndedIsAnEventWithinASecond) {
  ASSERT_TRUE(
      flows_.take(kPeer, CircuitRetired{1, "n0 -> n3 -> n2", CircuitEndKind::kFailed, "node n3: reset", 65536}).ok());
  pass(std::chrono::milliseconds(900));
  EXPECT_THAT(events_.codes, SizeIs(1));
  pass(std::chrono::milliseconds(100));
  EXPECT_EQ(events_.codes.back(), EventCode::kCircuitRetired);
  EXPECT_EQ(events_.texts.back(),
            "process 4711: the flow to node n2 has lost its circuit n0 -> n3 -> n2 (failed); 65536 bytes were sent "
            "again: \"node n3: reset\"");
  EXPECT_EQ(events_.field("path"), "n0 -> n3 -> n2") << "that of the circuit";
  EXPECT_EQ(events_.field("kind"), "failed");
  EXPECT_EQ(events_.field("circuits"), "1");
  EXPECT_EQ(events_.field("bytes_sent_again"), "65536");
  EXPECT_EQ(events_.field("reason"), "node n3: reset");
  pass(std::chrono::seconds(5));
  EXPECT_THAT(events_.codes, SizeIs(2)) << "reported once";
}

// A cut with a thousand flows.
TEST_F(ReportedFlowsTest, CircuitsThatEndForOneReasonShareAnEventEachSecond) {
  for (int i = 0; i < 999; ++i) {
    ASSERT_TRUE(flows_.take(kPeer, CircuitRetired{1, "n0 -> n3 -> n2", CircuitEndKind::kFailed, "lost", 10}).ok());
    pass(std::chrono::milliseconds(i % 2));
  }
  ASSERT_TRUE(flows_.take(kPeer, CircuitRetired{1, "n0 -> n4 -> n2", CircuitEndKind::kFailed, "reset", 0}).ok());
  pass(std::chrono::seconds(1));
  EXPECT_THAT(events_.codes,
              ElementsAre(EventCode::kFlowOpened, EventCode::kCircuitRetired, EventCode::kCircuitRetired));
  EXPECT_THAT(events_.texts[1], HasSubstr("has lost its circuit n0 -> n3 -> n2, and 998 other circuits (failed); 9990 "
                                          "bytes were sent again: \"lost\""));
  EXPECT_THAT(events_.texts[2], HasSubstr("has lost its circuit n0 -> n4 -> n2 (failed): \"reset\""));
  ASSERT_TRUE(flows_.take(kPeer, CircuitRetired{1, "", CircuitEndKind::kFailed, "lost", 0}).ok());
  pass(std::chrono::seconds(1));
  EXPECT_EQ(events_.field("circuits"), "1") << "counts begin again";
  EXPECT_EQ(flows_.status().retired[static_cast<std::size_t>(CircuitEndKind::kFailed)], 1001U);
  EXPECT_EQ(flows_.status().bytes_again, 9990U);
}

TEST_F(ReportedFlowsTest, HowLongCircuitsWereStuckDoesNotTellThemApart) {
  for (const char* reason : {"nothing has landed for 1001 ms", "nothing has landed for 1002 ms"}) {
    ASSERT_TRUE(flows_.take(kPeer, CircuitRetired{1, "", CircuitEndKind::kStuck, reason, 0}).ok());
  }
  pass(std::chrono::seconds(1));
  EXPECT_THAT(events_.codes, SizeIs(2));
  EXPECT_EQ(events_.field("circuits"), "2");
  EXPECT_EQ(events_.field("reason"), "nothing has landed for 1001 ms");
}

TEST_F(ReportedFlowsTest, AnyNumberOfReasonsMakesABoundedNumberOfEvents) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(
        flows_.take(kPeer, CircuitRetired{1, "", CircuitEndKind::kFailed, "reason " + std::to_string(i), 0}).ok());
  }
  pass(std::chrono::seconds(1));
  EXPECT_THAT(events_.codes, SizeIs(1 + ReportedFlows::kMaxReasons + 1));
  EXPECT_THAT(events_.texts, ::testing::Contains(HasSubstr("and 967 other circuits (failed): \"other reasons\"")));
}

TEST_F(ReportedFlowsTest, WhatAFlowLeavesIsNoWarning) {
  FlowOpened received;
  received.number = 2;
  ASSERT_TRUE(flows_.take(kPeer, received).ok());
  // A source knows that what it has not left itself was lost.
  for (const auto& [number, kind, code] : {std::tuple(1, CircuitEndKind::kMoved, EventCode::kCircuitLeft),
                                           std::tuple(2, CircuitEndKind::kClosed, EventCode::kCircuitLeft),
                                           std::tuple(1, CircuitEndKind::kClosed, EventCode::kCircuitRetired),
                                           std::tuple(2, CircuitEndKind::kFailed, EventCode::kCircuitRetired)}) {
    ASSERT_TRUE(flows_.take(kPeer, CircuitRetired{static_cast<std::uint64_t>(number), "", kind, "why", 0}).ok());
    pass(std::chrono::seconds(1));
    EXPECT_EQ(events_.codes.back(), code) << number << " " << name_of(kind);
  }
  EXPECT_EQ(kind_of(EventCode::kCircuitLeft).severity, EventSeverity::kInfo);
}

TEST_F(ReportedFlowsTest, AProcessCannotForgeTheNodesWords) {
  ASSERT_TRUE(flows_.take(kPeer, FlowEnded{1, "x\"; process 1: the flow to node n9 \\"}).ok());
  EXPECT_EQ(events_.texts.back(), R"(process 4711: "x\"; process 1: the flow to node n9 \\")");
  EXPECT_EQ(events_.field("reason"), R"(x"; process 1: the flow to node n9 \)") << "a field is a value of its own";
}

TEST_F(ReportedFlowsTest, AFailureIsAnEvent) {
  ASSERT_TRUE(flows_.take(kPeer, FlowEnded{1, "no path"}).ok());
  EXPECT_THAT(events_.codes, ElementsAre(EventCode::kFlowOpened, EventCode::kFlowFailed));
  EXPECT_EQ(events_.texts.back(), "process 4711: \"no path\"");
  EXPECT_EQ(flows_.status().failed, 1U);
}

TEST_F(ReportedFlowsTest, ReportsOfUnknownFlowsAreRefused) {
  const SessionPeer other{2, 4712};
  for (const SessionPeer& peer : {kPeer, other}) {
    const std::uint64_t number = peer.session == kPeer.session ? 2 : 1;
    FlowCounts counts;
    counts.number = number;
    EXPECT_TRUE(absl::IsInvalidArgument(flows_.take(peer, counts)));
    EXPECT_TRUE(absl::IsInvalidArgument(flows_.take(peer, FlowRerouted{number, "", "", 1, 0, 0})));
    EXPECT_TRUE(absl::IsInvalidArgument(flows_.take(peer, FlowWaits{number, ""})));
    EXPECT_TRUE(absl::IsInvalidArgument(flows_.take(peer, ChunkCorrupted{number, ""})));
    EXPECT_TRUE(absl::IsInvalidArgument(flows_.take(peer, FlowEnded{number, ""})));
    EXPECT_TRUE(absl::IsInvalidArgument(flows_.take(peer, CircuitRetired{number, "", CircuitEndKind::kFailed, "", 0})));
  }
  EXPECT_THAT(events_.codes, SizeIs(1));
}

}  // namespace
}  // namespace cableway
