#include "core/circuit/transit_setups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "routing/topology/cable_name.h"
#include "tests/core/circuit/played_transit.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using test::PlayedConnection;
using test::PlayedPeer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using TransitSetupsTest = test::PlayedTransit;
using test::kSlotBytes;

TEST_F(TransitSetupsTest, DialTheNextHopAndRelayOnceItIsOpen) {
  const auto upstream = arrive(setup());
  EXPECT_EQ(transit_.in_setup(), 1U);
  ASSERT_EQ(connector_.dialled.size(), 1U);
  EXPECT_EQ(connector_.dialled[0]->hop.to_node, "n2");
  const auto downstream = connector_.reach();
  const auto sent = decode_circuit_setup(downstream->take_frame().second);
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(sent->hop, 1);
  EXPECT_EQ(sent->budget_ms, 899U) << "a tenth is reserved for the answer, and 1 ns has passed";
  EXPECT_THAT(upstream->received, IsEmpty()) << "no answer before the next hop is open";

  answer(*downstream, {4096, std::nullopt});
  EXPECT_EQ(host_.relayed, 1U);
  EXPECT_EQ(transit_.in_setup(), 0U);
  EXPECT_EQ(host_.upstream.chunk_bytes, 4096U);
  const auto [answered, body] = upstream->take_frame();
  EXPECT_EQ(decode_setup_answer(answered, body)->chunk_bytes, 4096U);
  EXPECT_THAT(host_.refusals, IsEmpty());
  EXPECT_THAT(events_.codes(), ElementsAre(EventCode::kSetupArrived, EventCode::kDialStarted, EventCode::kDialEnded,
                                           EventCode::kCircuitOpened));
  EXPECT_EQ(events_.raised[1].text, "set-up n0 -c0-> n1 -c1-> n2 dials node n2 over cable c1");
  EXPECT_EQ(test::field_of(events_.raised[1].fields, "neighbour"), "n2");
}

TEST_F(TransitSetupsTest, RefuseAtOnceWhatIsToLeaveByALostPort) {
  CircuitSetup asked = setup();
  asked.hops[1].cable = routing::discovered_cable_name("n1", "eth1", "n2", "eth0");
  asked.circuit = {0, 1};
  arrive(asked);
  transit_.lose_port({.interface = "eth1", .reason = "the port has lost its carrier"});
  EXPECT_EQ(transit_.in_setup(), 1U) << "a flow's first circuit waits for the port";
  asked.circuit = {0, 2};
  const auto upstream = arrive(asked);
  transit_.lose_port({.interface = "eth0", .reason = "the port has lost its carrier"});
  EXPECT_EQ(transit_.in_setup(), 2U);
  transit_.lose_port({.interface = "eth1", .reason = "the port has lost its carrier"});
  EXPECT_EQ(transit_.in_setup(), 1U);
  EXPECT_TRUE(connector_.dialled[1]->dropped);
  EXPECT_EQ(reason_at(*upstream), "node n1 port eth1 (cable to n2 eth0): the port has lost its carrier");
  EXPECT_THAT(host_.refusals, SizeIs(1));
}

TEST_F(TransitSetupsTest, AnswerWithAChunkSizeThatTheSlotHolds) {
  const auto upstream = arrive(setup());
  answer(*connector_.reach(), {0, std::nullopt});
  EXPECT_EQ(host_.upstream.chunk_bytes, kSlotBytes);
  const auto [answered, body] = upstream->take_frame();
  EXPECT_EQ(decode_setup_answer(answered, body)->chunk_bytes, kSlotBytes);
}

TEST_F(TransitSetupsTest, ForwardARefusalUnchanged) {
  const auto upstream = arrive(setup());
  const auto downstream = connector_.reach();
  refuse(*downstream, "node n2: no listener");
  EXPECT_EQ(reason_at(*upstream), "node n2: no listener");
  EXPECT_THAT(host_.refusals, ElementsAre("node n2: no listener"));
  EXPECT_THAT(events_.codes(), ElementsAre(EventCode::kSetupArrived, EventCode::kDialStarted, EventCode::kDialEnded,
                                           EventCode::kCircuitRefused));
  EXPECT_EQ(events_.raised[3].text, "refused circuit n0 -c0-> n1 -c1-> n2: \"node n2: no listener\"");
  EXPECT_EQ(test::field_of(events_.raised[3].fields, "reason"), "node n2: no listener");
  EXPECT_EQ(transit_.in_setup(), 0U);
  EXPECT_FALSE(downstream->is_open);
}

TEST_F(TransitSetupsTest, ForwardTheAnswerToAnInquiryWithoutReportingARefusal) {
  CircuitSetup inquiry = setup();
  inquiry.purpose = SetupPurpose::kInquiry;
  const auto upstream = arrive(inquiry);
  refuse(*connector_.reach(), "node n2: the flow is open here");
  EXPECT_EQ(reason_at(*upstream), "node n2: the flow is open here");
  EXPECT_THAT(host_.refusals, IsEmpty());
  EXPECT_EQ(events_.count(EventCode::kCircuitRefused), 0U);
  EXPECT_EQ(transit_.in_setup(), 0U);
}

TEST_F(TransitSetupsTest, PassInquiriesOnAlsoWhereThereIsNoRoomForCircuits) {
  host_.relayed = host_.limit;
  CircuitSetup inquiry = setup();
  inquiry.purpose = SetupPurpose::kInquiry;
  std::vector<std::shared_ptr<PlayedPeer>> open;
  for (std::size_t i = 0; i < TransitSetups::kMaxInquiries; ++i) open.push_back(arrive(inquiry));
  EXPECT_THAT(connector_.dialled, SizeIs(TransitSetups::kMaxInquiries));
  EXPECT_EQ(transit_.in_setup(), 0U);
  EXPECT_THAT(busy_reason_at(*arrive(inquiry)), HasSubstr("already passes on 128 inquiries from node n0"));
}

TEST_F(TransitSetupsTest, RefuseAnInquiryThatTheDestinationAccepts) {
  CircuitSetup inquiry = setup();
  inquiry.purpose = SetupPurpose::kInquiry;
  const auto upstream = arrive(inquiry);
  answer(*connector_.reach(), {4096, std::nullopt});
  EXPECT_THAT(reason_at(*upstream), HasSubstr("node n2 has accepted an inquiry as a circuit"));
  EXPECT_EQ(host_.relayed, 0U);
}

TEST_F(TransitSetupsTest, ForwardTheDestinationsRefusalOfTheFlow) {
  const auto upstream = arrive(setup());
  refuse(*connector_.reach(), "node n2: no listener", FailureScope::kFlow);
  EXPECT_EQ(reason_at(*upstream, FailureScope::kFlow), "node n2: no listener");
}

TEST_F(TransitSetupsTest, ForwardThatANodeFurtherOnHasNoRoomNow) {
  const auto upstream = arrive(setup());
  refuse(*connector_.reach(), "node n2: no room now", FailureScope::kBusy);
  EXPECT_EQ(reason_at(*upstream, FailureScope::kBusy), "node n2: no room now");
}

TEST_F(TransitSetupsTest, AskForNoOtherTryWhereThisNodeCannotDial) {
  const auto upstream = arrive(setup());
  connector_.dialled.back()->connected(absl::ResourceExhaustedError("Too many open files"));
  EXPECT_THAT(reason_at(*upstream), HasSubstr("Too many open files"));
}

TEST_F(TransitSetupsTest, TellThatTheDestinationHasEnded) {
  const auto upstream = arrive(setup());
  connector_.dialled.back()->connected(absl::NotFoundError("Connection refused"));
  EXPECT_EQ(reason_at(*upstream, FailureScope::kFlow),
            "node n1 cannot reach node n2 at 10.0.1.2 TCP port 7001 over cable c1: Connection refused");
}

TEST_F(TransitSetupsTest, NameTheUnreachableHop) {
  const auto upstream = arrive(setup());
  clock_.run_for(milliseconds(901));
  EXPECT_THAT(reason_at(*upstream),
              HasSubstr("node n1 cannot reach node n2 at 10.0.1.2 TCP port 7001 over cable c1: no"));
  EXPECT_TRUE(connector_.dialled[0]->dropped);
  EXPECT_EQ(transit_.in_setup(), 0U);
}

TEST_F(TransitSetupsTest, WaitForAnUnknownCable) {
  host_.transit = absl::NotFoundError("no cable c1");
  const auto upstream = arrive(setup());
  clock_.run_for(milliseconds(400));
  EXPECT_THAT(connector_.dialled, IsEmpty());
  EXPECT_EQ(transit_.in_setup(), 1U);
  EXPECT_TRUE(events_.has(EventCode::kSetupWaiting, "set-up n0 -c0-> n1 -c1-> n2 waits for the topology: no cable c1"));
  host_.transit = absl::OkStatus();
  transit_.topology_changed();
  clock_.run_for(Duration{1});
  EXPECT_EQ(connector_.dialled.size(), 1U);
  EXPECT_EQ(transit_.in_setup(), 1U);
  EXPECT_TRUE(upstream->is_open);
}

TEST_F(TransitSetupsTest, SubtractTheirWaitFromTheBudget) {
  host_.transit = absl::NotFoundError("no cable c1");
  const auto upstream = arrive(setup(2000));
  clock_.run_for(milliseconds(700) - Duration{1});
  host_.transit = absl::OkStatus();
  transit_.topology_changed();
  clock_.run_for(Duration{1});
  const auto sent = decode_circuit_setup(connector_.reach()->take_frame().second);
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(sent->budget_ms, 2000U - 200U - 700U - 1U);
  clock_.run_for(milliseconds(1101));
  EXPECT_FALSE(upstream->is_open) << "gives up before its peer does, 2000 ms after the set-up's arrival";
}

TEST_F(TransitSetupsTest, WaitForHalfTheirBudgetUpToTheLimit) {
  host_.transit = absl::NotFoundError("no cable c1");
  const auto hurried = arrive(setup(1000));
  const auto patient = arrive(setup(60000));
  clock_.run_for(milliseconds(499));
  EXPECT_TRUE(hurried->is_open);
  clock_.run_for(milliseconds(1));
  EXPECT_EQ(reason_at(*hurried), "no cable c1");
  EXPECT_TRUE(patient->is_open);
  clock_.run_for(TransitSetups::kTransitLimit - milliseconds(500));
  EXPECT_EQ(reason_at(*patient), "no cable c1");
  EXPECT_EQ(transit_.in_setup(), 0U);
  EXPECT_EQ(host_.refusals.size(), 2U);
}

TEST_F(TransitSetupsTest, AreRefusedAtOnceIfTheTopologyForbidsThem) {
  host_.transit = absl::PermissionDeniedError("this node drains");
  EXPECT_EQ(reason_at(*arrive(setup())), "this node drains");
  EXPECT_EQ(transit_.in_setup(), 0U);
}

TEST_F(TransitSetupsTest, AreRefusedBeyondTheMaximumOfCircuits) {
  host_.limit = 3;
  host_.relayed = 1;
  const auto dialling = arrive(setup());
  host_.transit = absl::NotFoundError("no cable c1");
  const auto waiting = arrive(setup());
  EXPECT_TRUE(dialling->is_open && waiting->is_open);
  EXPECT_EQ(busy_reason_at(*arrive(setup())), "full, with 2 in set-up");
  host_.transit = absl::OkStatus();
  EXPECT_EQ(busy_reason_at(*arrive(setup())), "full, with 2 in set-up");
  // A refused set-up releases its room.
  refuse(*connector_.reach(), "no");
  EXPECT_TRUE(arrive(setup())->is_open);
}

TEST_F(TransitSetupsTest, HalfOfThePlacesAreKeptForFlowsWithoutACircuit) {
  host_.addresses.erase("10.0.1.2");  // n2 has no share
  host_.limit = 6;
  host_.relayed = 2;
  CircuitSetup beside = setup();
  beside.further = true;
  EXPECT_TRUE(arrive(beside)->is_open);
  EXPECT_EQ(
      busy_reason_at(*arrive(beside)),
      "node n1 relays 2 circuits, and keeps the rest of its 6 places for first circuits and those that replace others");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(arrive(setup())->is_open);
  EXPECT_EQ(busy_reason_at(*arrive(setup())), "full, with 4 in set-up");
}

TEST_F(TransitSetupsTest, AreRefusedAndCloseTheNextHopIfTheFloorCannotBeMade) {
  host_.floor = absl::ResourceExhaustedError("no pipe left");
  const auto upstream = arrive(setup());
  const auto downstream = connector_.reach();
  answer(*downstream, {});
  EXPECT_EQ(busy_reason_at(*upstream), "node n1 cannot relay another circuit: no pipe left");
  EXPECT_FALSE(downstream->is_open);
  EXPECT_EQ(transit_.in_setup(), 0U);
  EXPECT_EQ(host_.relayed, 0U);
}

// Codes of this node's errors say nothing about the flow.
TEST_F(TransitSetupsTest, EndNoFlowIfTheFloorCannotBeMade) {
  host_.floor = absl::NotFoundError("no such device");
  const auto upstream = arrive(setup());
  answer(*connector_.reach(), {});
  EXPECT_EQ(reason_at(*upstream), "node n1 cannot relay another circuit: no such device");
}

TEST_F(TransitSetupsTest, AreLostAndCloseTheNextHopIfTheSourceHasClosed) {
  const auto upstream = arrive(setup());
  const auto downstream = connector_.reach();
  upstream->ended = absl::UnavailableError("End of file");
  answer(*downstream, {});
  EXPECT_THAT(host_.losses, ElementsAre("the peer closed the connection during the set-up"));
  EXPECT_FALSE(downstream->is_open);
  EXPECT_EQ(transit_.in_setup(), 0U);
}

TEST_F(TransitSetupsTest, AreClosedWithoutAnAnswerOnDestruction) {
  const auto upstream = std::make_shared<PlayedPeer>();
  {
    TransitSetups ending({clock_, connector_, transports_, [] { return Challenge{}; }}, host_, events_, "n1");
    ending.arrived(ArrivedSetup(std::make_unique<PlayedConnection>(upstream), setup(), std::nullopt));
    clock_.run_for(Duration{1});
  }
  EXPECT_FALSE(upstream->is_open);
  EXPECT_THAT(upstream->final_frame, IsEmpty());
  clock_.run_for(milliseconds(60000));
  EXPECT_THAT(host_.refusals, IsEmpty());
}

TEST_F(TransitSetupsTest, RetryWhileARelayMayBeStarting) {
  CircuitSetup through = setup(250);
  through.hops.push_back({"c2", "10.0.2.1", "n3", "10.0.2.2", 7002, false});
  const auto upstream = arrive(through);
  connector_.dialled.back()->connected(absl::NotFoundError("Connection refused"));
  clock_.run_for(HopDial::kRetryAfter);
  ASSERT_EQ(connector_.dialled.size(), 2U);
  connector_.dialled.back()->connected(absl::NotFoundError("Connection refused"));
  clock_.run_for(HopDial::kRetryAfter);
  ASSERT_EQ(connector_.dialled.size(), 3U);
  connector_.dialled.back()->connected(absl::NotFoundError("Connection refused"));
  clock_.run_for(milliseconds(30));
  EXPECT_THAT(reason_at(*upstream), HasSubstr("connection refused (is cablewayd running there?)"));
  // A refused connection to a process is not retried.
  const auto direct = arrive(setup());
  connector_.dialled.back()->connected(absl::NotFoundError("Connection refused"));
  EXPECT_THAT(reason_at(*direct, FailureScope::kFlow), HasSubstr("Connection refused"));
}

}  // namespace
}  // namespace cableway
