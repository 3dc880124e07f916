#include "core/session/session_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/wire.h"
#include "routing/text/node_name.h"
#include "routing/topology/topology.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;

SubKey some_key(std::size_t first = 50) {
  SubKey key;
  for (std::size_t i = 0; i < SubKey::kBytes; ++i) key.bytes()[i] = static_cast<std::byte>(first + i);
  return key;
}

FlowOpened flow_opened() {
  FlowOpened flow;
  flow.number = 3;
  flow.flow = std::numeric_limits<std::uint64_t>::max();
  flow.node = std::string(routing::kMaxNodeNameBytes, 'n');
  flow.sends = true;
  flow.path = std::string(kMaxPathText, 'p');
  flow.port = std::string(kMaxPortName, 'e');
  flow.transport = {std::string(kMaxTransportName, 'r'), std::string(kMaxTransportReason, 'w')};
  flow.open_ms = kMaxOpenMs;
  return flow;
}

FlowCounts flow_counts() {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  FlowCounts counts{3, kMax, kMax, kMax, kMax, {}};
  CircuitCounts circuit;
  circuit.path = std::string(kMaxPathText, 'p');
  circuit.port = std::string(kMaxPortName, 'e');
  circuit.transport = {std::string(kMaxTransportName, 'r'), std::string(kMaxTransportReason, 'w')};
  circuit.bytes = kMax;
  circuit.open_ms = kMaxOpenMs;
  circuit.carries = true;
  circuit.share = CircuitShare::kAlternate;
  circuit.stalled_us = circuit.kept_away_us = kMax;
  counts.circuits.assign(kMaxFlowCircuits, circuit);
  counts.retired.fill(kMax);
  return counts;
}

std::vector<SessionMessage> one_of_each() {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const Hop hop{"c0", "10.0.0.1", "n1", "10.0.0.2", 7470, true};
  return {Hello{8, "plugin"},
          Hello{1, ""},
          Welcome{"n0", "lab", kMax, 200000, {"10.0.0.1", "fe80::1%eth0"}},
          Welcome{"n0", "lab", 0, 0, {}},
          Welcome{"n0", "lab", 1, 2, {"10.0.0.1"}, SetupKeys(some_key())},
          Welcome{"n0",
                  "lab",
                  1,
                  2,
                  {},
                  SetupKeys(some_key(), some_key(90)),
                  {{"c0", "it is silent", true}, {"c1", "", false}}},
          Refusal{"because"},
          PathRequest{kMax, 3, 1, "n7"},
          PathRequest{0, kMax, kMaxPaths, "x"},
          PathRequest{1, 0, 1, "n7", true},
          PathReply{5,
                    "",
                    {{PathKind::kFirst, true, {hop, hop}},
                     {PathKind::kBundle, false, {hop, hop}},
                     {PathKind::kBundle, true, {hop}},
                     {PathKind::kAlternate, true, {hop}},
                     {PathKind::kAlternate, true, {hop}, true, false},
                     {PathKind::kAlternate, false, {hop}, false, true}}},
          PathReply{5, "no such node", {}},
          ViewRequest{"status"},
          ViewReply{"", std::string(100000, 'v')},
          ViewReply{"no view", ""},
          CableProbeRequest{{{"eth1", "n7", "eth2"}, {"eth3", "n7", ""}}, 500, true},
          CableProbeRequest{{}, 0, false},
          CableProbeRequest{std::vector<ProbedCable>(kMaxProbedCables), 1, false},
          CableProbeReply{"", {{"", kMax, 1, "rdma mlx5_0", 4096}, {"no such cable", 0, 0, "", 0}}},
          CableProbeReply{"not now", {}},
          flow_opened(),
          FlowOpened{},
          FlowEnded{kMax, "node n0 port eth1 (cable to n1 eth0): the cable, or the host behind it, is silent"},
          FlowEnded{1, ""},
          flow_counts(),
          FlowCounts{},
          FlowRerouted{kMax, "n0 -> n3 -> n2", "node n0 port eth1 (cable to n1 eth0): reset", 2, 31000, kMax},
          FlowRerouted{},
          FlowWaits{3, "node n0 port eth1 (cable to n1 eth0): reset"},
          ChunkCorrupted{kMax, "node n0 port eth1 (cable to n1 eth0): chunk corrupted"},
          PortLost{std::string(kMaxPortName, 'e'), std::string(kMaxPortLostReason, 'w'), true,
                   std::string(routing::kMaxCableNameLength, 'c'), true},
          PortLost{},
          DrainRequest{"", false},
          DrainRequest{std::string(routing::kMaxCableNameLength, 'c'), true},
          DrainReply{"no cable of that name is up"},
          PathsChanged{},
          CircuitRetired{kMax, std::string(kMaxPathText, 'p'), CircuitEndKind::kMoved,
                         std::string(kMaxFlowFailure, 'w'), kMax},
          CircuitRetired{},
          ListensAt{1},
          ListensAt{65535},
          ClusterViewRequest{kMax, "status"},
          ClusterViewReply{"", kMax, 2, true, {{"n1", NoView::kNone, "", "{}"}, {"n2", NoView::kBusy, "no room", ""}}}};
}

std::vector<std::byte> body_of(const SessionMessage& message) {
  const std::vector<std::byte> framed = encode_session_message(message);
  WireReader reader(framed);
  EXPECT_EQ(reader.get<std::uint32_t>(), framed.size() - 4);
  return std::vector<std::byte>(framed.begin() + 4, framed.end());
}

TEST(SessionMessage, SurvivesARoundTrip) {
  for (const SessionMessage& message : one_of_each()) {
    const absl::StatusOr<SessionMessage> decoded = decode_session_message(body_of(message));
    ASSERT_TRUE(decoded.ok()) << message.index() << ": " << decoded.status();
    EXPECT_TRUE(*decoded == message) << message.index();
  }
}

TEST(SessionMessage, IsRefusedAtEveryTruncation) {
  for (const SessionMessage& message : one_of_each()) {
    std::vector<std::byte> body = body_of(message);
    // Long texts are cut at some lengths only, not at all 100,000.
    for (std::size_t length = 0; length < body.size(); length += length < 300 ? 1 : 9973) {
      const absl::Status status = decode_session_message(std::span(body).first(length)).status();
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << message.index() << " cut to " << length << ": " << status;
    }
    body.push_back(std::byte{0});
    EXPECT_THAT(std::string(decode_session_message(body).status().message()), HasSubstr("too long"));
  }
}

TEST(SessionMessage, RefusesAnUnknownType) {
  for (const int type : {0, 24, 255}) {
    const std::byte body[] = {static_cast<std::byte>(type), std::byte{0}};
    EXPECT_THAT(std::string(decode_session_message(body).status().message()),
                HasSubstr("unknown type " + std::to_string(type)));
  }
}

TEST(SessionMessage, BoundsTheKeysOfAWelcome) {
  std::vector<std::byte> body = body_of(Welcome{"n0", "lab", 1, 2, {}});
  ASSERT_EQ(body.back(), std::byte{0});  // the number of keys
  body.back() = static_cast<std::byte>(SetupKeys::kMost + 1);
  body.resize(body.size() + (SetupKeys::kMost + 1) * SubKey::kBytes);
  EXPECT_FALSE(decode_session_message(body).ok());
}

bool decodes(const SessionMessage& message) {
  return decode_session_message(body_of(message)).ok();
}

PathOffer some_path(PathKind kind) {
  return {kind, true, {Hop{"c", "1", "n", "2", 1, false}}};
}

TEST(SessionMessage, BoundsTheHopsOfAPath) {
  PathReply reply{1, "", {some_path(PathKind::kFirst)}};
  reply.paths[0].hops.resize(kMaxHops, reply.paths[0].hops.front());
  EXPECT_TRUE(decodes(reply));
  reply.paths[0].hops.push_back(reply.paths[0].hops.front());
  EXPECT_FALSE(decodes(reply));
  reply.paths[0].hops.clear();
  EXPECT_FALSE(decodes(reply)) << "no hop";
}

TEST(SessionMessage, BoundsThePathsOfAReply) {
  PathReply reply{1, "", {some_path(PathKind::kFirst)}};
  reply.paths.resize(kMaxPaths, some_path(PathKind::kAlternate));
  EXPECT_TRUE(decodes(reply));
  reply.paths.push_back(reply.paths.back());
  EXPECT_FALSE(decodes(reply));
  EXPECT_FALSE(decodes(PathReply{1, "", {}})) << "neither a path nor an error";
  EXPECT_FALSE(decodes(PathReply{1, "none", {some_path(PathKind::kFirst)}})) << "both";
}

TEST(SessionMessage, BoundsThePathsOfARequest) {
  EXPECT_TRUE(decodes(PathRequest{1, 1, 1, "n"}));
  EXPECT_TRUE(decodes(PathRequest{1, 1, kMaxPaths, "n"}));
  EXPECT_FALSE(decodes(PathRequest{1, 1, 0, "n"}));
  EXPECT_FALSE(decodes(PathRequest{1, 1, kMaxPaths + 1, "n"}));
  // A node's log repeats the name.
  for (const char* name : {"", "n2 for a process: circuit n0 -> n2 ended", "n2\n", "..", "-rf"}) {
    EXPECT_FALSE(decodes(PathRequest{1, 1, 1, name})) << name;
  }
}

TEST(SessionMessage, RefusesPathsInAnotherOrderThanThatOfTheirKinds) {
  const auto in_order = [](const std::vector<PathKind>& kinds) {
    PathReply reply{1, "", {}};
    for (const PathKind kind : kinds) reply.paths.push_back(some_path(kind));
    return decodes(reply);
  };
  using enum PathKind;
  EXPECT_TRUE(in_order({kFirst, kBundle, kBundle, kAlternate, kAlternate}));
  EXPECT_TRUE(in_order({kFirst, kAlternate}));
  EXPECT_FALSE(in_order({kBundle, kAlternate}));
  EXPECT_FALSE(in_order({kAlternate}));
  EXPECT_FALSE(in_order({kFirst, kFirst}));
  EXPECT_FALSE(in_order({kFirst, kAlternate, kBundle}));
  EXPECT_FALSE(in_order({kFirst, static_cast<PathKind>(3)}));
}

TEST(SessionMessage, RefusesAPathThatMayNeitherStripeNorNot) {
  std::vector<std::byte> body = body_of(PathReply{1, "", {some_path(PathKind::kFirst)}});
  // After the type, a number, an empty text, a count and the kind.
  constexpr std::size_t kMayStripe = 1 + 8 + 2 + 1 + 1;
  ASSERT_EQ(body[kMayStripe], std::byte{1});
  body[kMayStripe] = std::byte{2};
  EXPECT_FALSE(decode_session_message(body).ok());
}

TEST(SessionMessage, RefusesATestOfTooManyCables) {
  CableProbeRequest request{std::vector<ProbedCable>(kMaxProbedCables), 1, true};
  EXPECT_TRUE(decode_session_message(body_of(request)).ok());
  request.cables.emplace_back();
  EXPECT_FALSE(decode_session_message(body_of(request)).ok());
  CableProbeReply reply{"", std::vector<CableRates>(kMaxProbedCables)};
  EXPECT_TRUE(decode_session_message(body_of(reply)).ok());
  reply.cables.emplace_back();
  EXPECT_FALSE(decode_session_message(body_of(reply)).ok());
}

TEST(SessionMessage, BoundsTheTextsOfFlows) {
  ASSERT_TRUE(decode_session_message(body_of(flow_opened())).ok());
  const auto with = [](auto change) {
    FlowOpened flow = flow_opened();
    change(flow);
    return decode_session_message(body_of(flow)).status();
  };
  for (const absl::Status& status : {
           with([](FlowOpened& flow) { flow.node += 'x'; }),
           with([](FlowOpened& flow) { flow.path += 'x'; }),
           with([](FlowOpened& flow) { flow.port += 'x'; }),
           with([](FlowOpened& flow) { flow.transport.over += 'x'; }),
           with([](FlowOpened& flow) { flow.transport.reason += 'x'; }),
           with([](FlowOpened& flow) { ++flow.open_ms; }),
       }) {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  }
  EXPECT_TRUE(decode_session_message(body_of(FlowEnded{1, std::string(kMaxFlowFailure, 'x')})).ok());
  EXPECT_FALSE(decode_session_message(body_of(FlowEnded{1, std::string(kMaxFlowFailure + 1, 'x')})).ok());
}

TEST(SessionMessage, BoundsWhatIsSaidOfACircuit) {
  EXPECT_FALSE(decodes(ListensAt{0}));
  EXPECT_TRUE(decodes(CircuitRetired{1, "", CircuitEndKind::kMoved, "", 0}));
  EXPECT_FALSE(decodes(CircuitRetired{1, "", static_cast<CircuitEndKind>(kCircuitEndKinds), "", 0}));
  EXPECT_FALSE(decodes(CircuitRetired{1, std::string(kMaxPathText + 1, 'p'), CircuitEndKind::kFailed, "", 0}));
  EXPECT_FALSE(decodes(CircuitRetired{1, "", CircuitEndKind::kFailed, std::string(kMaxFlowFailure + 1, 'w'), 0}));
  EXPECT_FALSE(decodes(CircuitRetired{1, "", CircuitEndKind::kFailed, "\033[31m", 0}));
}

TEST(SessionMessage, BoundsWhatIsCountedOfAFlow) {
  ASSERT_TRUE(decodes(flow_counts()));
  const auto with = [](auto change) {
    FlowCounts counts = flow_counts();
    change(counts.circuits.back());
    return decodes(counts);
  };
  EXPECT_FALSE(with([](CircuitCounts& circuit) { circuit.path += 'x'; }));
  EXPECT_FALSE(with([](CircuitCounts& circuit) { circuit.port += 'x'; }));
  EXPECT_FALSE(with([](CircuitCounts& circuit) { circuit.transport.over += 'x'; }));
  EXPECT_FALSE(with([](CircuitCounts& circuit) { circuit.transport.reason += 'x'; }));
  EXPECT_FALSE(with([](CircuitCounts& circuit) { circuit.path = "\x1b[2J"; }));
  EXPECT_FALSE(with([](CircuitCounts& circuit) { ++circuit.open_ms; }));
  EXPECT_FALSE(with([](CircuitCounts& circuit) { circuit.share = static_cast<CircuitShare>(3); }));
  FlowCounts counts = flow_counts();
  counts.circuits.push_back(counts.circuits.front());
  EXPECT_FALSE(decodes(counts)) << "a flow has at most eight circuits";
}

TEST(SessionMessage, BoundsTheTextsOfReroutesAndWaits) {
  EXPECT_TRUE(decodes(FlowRerouted{1, std::string(kMaxPathText, 'p'), std::string(kMaxFlowFailure, 'x'), 1, 2, 3}));
  EXPECT_FALSE(decodes(FlowRerouted{1, std::string(kMaxPathText + 1, 'p'), "", 1, 2, 3}));
  EXPECT_FALSE(decodes(FlowRerouted{1, "", std::string(kMaxFlowFailure + 1, 'x'), 1, 2, 3}));
  EXPECT_FALSE(decodes(FlowRerouted{1, "\n", "", 1, 2, 3}));
  EXPECT_TRUE(decodes(FlowWaits{1, std::string(kMaxFlowFailure, 'x')}));
  EXPECT_FALSE(decodes(FlowWaits{1, std::string(kMaxFlowFailure + 1, 'x')}));
  EXPECT_FALSE(decodes(FlowWaits{1, "\x7f"}));
}

TEST(SessionMessage, BoundsTheReasonOfACorruption) {
  EXPECT_TRUE(decodes(ChunkCorrupted{1, std::string(kMaxFlowFailure, 'x')}));
  EXPECT_FALSE(decodes(ChunkCorrupted{1, std::string(kMaxFlowFailure + 1, 'x')}));
  EXPECT_FALSE(decodes(ChunkCorrupted{1, "\x1b[2J"})) << "the reason is shown";
}

TEST(SessionMessage, TellsReportsOfFlowsFromRequests) {
  for (const SessionMessage& message : one_of_each()) {
    const bool is_flows = std::holds_alternative<FlowOpened>(message) || std::holds_alternative<FlowEnded>(message) ||
                          std::holds_alternative<FlowCounts>(message) ||
                          std::holds_alternative<FlowRerouted>(message) || std::holds_alternative<FlowWaits>(message) ||
                          std::holds_alternative<ChunkCorrupted>(message) ||
                          std::holds_alternative<CircuitRetired>(message) || std::holds_alternative<ListensAt>(message);
    EXPECT_EQ(is_report(message), is_flows) << message.index();
  }
}

TEST(SessionMessage, BoundsTheTextsOfALostPort) {
  EXPECT_FALSE(decodes(DrainRequest{std::string(routing::kMaxCableNameLength + 1, 'c'), true}));
  EXPECT_FALSE(decodes(DrainRequest{"\x1b[2J", true})) << "the name is shown";
  EXPECT_TRUE(decodes(PortLost{"eth1", "the port has lost its carrier", false}));
  EXPECT_FALSE(decodes(PortLost{std::string(kMaxPortName + 1, 'e'), "", false}));
  EXPECT_FALSE(decodes(PortLost{"eth1", std::string(kMaxPortLostReason + 1, 'w'), false}));
  EXPECT_FALSE(decodes(PortLost{"eth1", "\x1b[2J", false})) << "the reason is shown";
  EXPECT_FALSE(decodes(PortLost{"eth1", "", false, std::string(routing::kMaxCableNameLength + 1, 'c')}));
  constexpr std::size_t kRdmaFlag = 4;  // from the end: before a length of 2 and another flag
  for (const std::size_t from_end : {std::size_t{1}, kRdmaFlag}) {
    std::vector<std::byte> body = body_of(PortLost{});
    body[body.size() - from_end] = std::byte{2};
    EXPECT_FALSE(decode_session_message(body).ok()) << from_end;
  }
}

// The texts are shown on terminals and in logs.
TEST(SessionMessage, RefusesTextsOfFlowsThatAreNotPrintable) {
  for (const char* text : {"\n", "\x1b[2J", "\xff", "\x7f"}) {
    FlowOpened flow = flow_opened();
    flow.port = text;
    EXPECT_FALSE(decode_session_message(body_of(flow)).ok());
    flow = flow_opened();
    flow.transport.reason = text;
    EXPECT_FALSE(decode_session_message(body_of(flow)).ok());
    EXPECT_FALSE(decode_session_message(body_of(FlowEnded{1, text})).ok());
  }
}

// Nodes and paths stand unquoted in lines of the log.
TEST(SessionMessage, RefusesNodesAndPathsThatCouldPassForMoreOfALine) {
  for (const char* text : {"n1: [error]", "n1 \"x\"", "n1, n2", "n1=", "n1/../n2"}) {
    FlowOpened flow = flow_opened();
    flow.node = text;
    EXPECT_FALSE(decode_session_message(body_of(flow)).ok()) << text;
    flow = flow_opened();
    flow.path = text;
    EXPECT_FALSE(decode_session_message(body_of(flow)).ok()) << text;
    EXPECT_FALSE(decode_session_message(body_of(FlowRerouted{1, text, "", 1, 1, 1})).ok()) << text;
    EXPECT_FALSE(decode_session_message(body_of(CircuitRetired{1, text, CircuitEndKind::kFailed, "", 0})).ok()) << text;
  }
  for (const char* path : {"", "a -a.eth0-b.eth1-> b", "a -> (3 nodes) -> b", "a -local-> a"}) {
    FlowOpened flow = flow_opened();
    flow.path = path;
    EXPECT_TRUE(decode_session_message(body_of(flow)).ok()) << path;
  }
}

TEST(SessionMessage, RefusesAnInvalidDirection) {
  std::vector<std::byte> body = body_of(FlowOpened{});
  EXPECT_TRUE(decode_session_message(body).ok());
  // After the type, two numbers and the length of a name.
  constexpr std::size_t kSends = 1 + 8 + 8 + 2;
  ASSERT_EQ(body[kSends], std::byte{0});
  body[kSends] = std::byte{2};
  EXPECT_FALSE(decode_session_message(body).ok());
}

// A reply whose error repeats the request's name must still be valid.
TEST(SessionMessage, BoundsNamesInRequestsSoThatErrorsMayRepeatThem) {
  EXPECT_FALSE(decode_session_message(body_of(PathRequest{1, 1, 1, std::string(4000, 'x')})).ok());
  EXPECT_FALSE(decode_session_message(body_of(ViewRequest{std::string(4000, 'x')})).ok());
  EXPECT_TRUE(decode_session_message(body_of(PathRequest{1, 1, 1, std::string(routing::kMaxNodeNameBytes, 'x')})).ok());
}

}  // namespace
}  // namespace cableway
