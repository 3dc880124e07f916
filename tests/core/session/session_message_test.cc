#include "core/session/session_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/wire.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;

SubKey some_key() {
  SubKey key;
  for (std::size_t i = 0; i < SubKey::kBytes; ++i) key.bytes()[i] = static_cast<std::byte>(50 + i);
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

std::vector<SessionMessage> one_of_each() {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const Hop hop{"c0", "10.0.0.1", "n1", "10.0.0.2", 7470, true};
  return {Hello{7, "plugin"},
          Hello{1, ""},
          Welcome{"n0", "lab", kMax, 200000, {"10.0.0.1", "fe80::1%eth0"}},
          Welcome{"n0", "lab", 0, 0, {}},
          Welcome{"n0", "lab", 1, 2, {"10.0.0.1"}, some_key()},
          Refusal{"because"},
          PathRequest{kMax, 3, "n7"},
          PathReply{5, "", {{hop, hop}, {hop}}},
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
          PortLost{std::string(kMaxPortName, 'e'), std::string(kMaxPortLostReason, 'w'), true},
          PortLost{}};
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
  for (const int type : {0, 13, 255}) {
    const std::byte body[] = {static_cast<std::byte>(type), std::byte{0}};
    EXPECT_THAT(std::string(decode_session_message(body).status().message()),
                HasSubstr("unknown type " + std::to_string(type)));
  }
}

TEST(SessionMessage, RefusesAPathOfTooManyHops) {
  PathReply reply{1, "", {}};
  const std::vector<Hop> longest(kMaxHops, Hop{"c", "1", "n", "2", 1, false});
  reply.paths = {longest};
  EXPECT_TRUE(decode_session_message(body_of(reply)).ok());
  reply.paths[0].push_back(longest.front());
  EXPECT_FALSE(decode_session_message(body_of(reply)).ok());
}

TEST(SessionMessage, RefusesAReplyOfTooManyPaths) {
  PathReply reply{1, "", {}};
  reply.paths.resize(kMaxPaths, {Hop{"c", "1", "n", "2", 1, false}});
  EXPECT_TRUE(decode_session_message(body_of(reply)).ok());
  reply.paths.push_back(reply.paths.front());
  EXPECT_FALSE(decode_session_message(body_of(reply)).ok());
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

TEST(SessionMessage, BoundsTheTextsOfALostPort) {
  const auto decodes = [](const PortLost& lost) { return decode_session_message(body_of(lost)).ok(); };
  EXPECT_TRUE(decodes({"eth1", "the port has lost its carrier", false}));
  EXPECT_FALSE(decodes({std::string(kMaxPortName + 1, 'e'), "", false}));
  EXPECT_FALSE(decodes({"eth1", std::string(kMaxPortLostReason + 1, 'w'), false}));
  EXPECT_FALSE(decodes({"eth1", "\x1b[2J", false})) << "the reason is shown";
  std::vector<std::byte> body = body_of(PortLost{});
  body.back() = std::byte{2};
  EXPECT_FALSE(decode_session_message(body).ok());
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

TEST(SessionMessage, RefusesAnInvalidDirection) {
  std::vector<std::byte> body = body_of(FlowOpened{});
  // After the type, two numbers and the length of a name.
  constexpr std::size_t kSends = 1 + 8 + 8 + 2;
  ASSERT_EQ(body[kSends], std::byte{0});
  body[kSends] = std::byte{2};
  EXPECT_FALSE(decode_session_message(body).ok());
}

// A reply whose error repeats the request's name must still be valid.
TEST(SessionMessage, BoundsNamesInRequestsSoThatErrorsMayRepeatThem) {
  EXPECT_FALSE(decode_session_message(body_of(PathRequest{1, 1, std::string(4000, 'x')})).ok());
  EXPECT_FALSE(decode_session_message(body_of(ViewRequest{std::string(4000, 'x')})).ok());
  EXPECT_TRUE(decode_session_message(body_of(PathRequest{1, 1, std::string(routing::kMaxNodeNameBytes, 'x')})).ok());
}

}  // namespace
}  // namespace cableway
