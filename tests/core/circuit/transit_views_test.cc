// Set-ups for views through a relay: they need no room for circuits, and bring a document back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/core/circuit/played_transit.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using test::PlayedPeer;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class TransitViewsTest : public test::PlayedTransit {
 protected:
  TransitViewsTest() { host_.relayed = host_.limit; }

  static CircuitSetup view() {
    CircuitSetup asked = setup(1000);
    asked.purpose = SetupPurpose::kView;
    asked.view = "status";
    return asked;
  }
  static void show(PlayedPeer& peer, const std::string& document) {
    const FrameBytes header =
        encode_frame(Frame{FrameKind::kDocument, static_cast<std::uint32_t>(document.size()), 0, 0, 0});
    peer.deliver(header);
    peer.deliver(std::as_bytes(std::span(document)));
    peer.run();
  }
};

TEST_F(TransitViewsTest, PassADocumentBackWithoutAPlaceOrAnEvent) {
  const auto upstream = arrive(view());
  EXPECT_EQ(transit_.views(), 1U);
  EXPECT_EQ(transit_.in_setup(), 0U);
  const auto downstream = connector_.reach();
  const auto sent = decode_circuit_setup(downstream->take_frame().second);
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(sent->view, "status");
  EXPECT_EQ(sent->hop, 1);
  EXPECT_EQ(sent->budget_ms, 994U) << "5 ms are for the way back, and 1 ns has passed";
  show(*downstream, "{\"node\": \"n2\"}");
  const auto [header, body] = upstream->take_frame();
  EXPECT_EQ(header.kind, FrameKind::kDocument);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(body.data()), body.size()), "{\"node\": \"n2\"}");
  EXPECT_EQ(transit_.views(), 1U) << "until all of it is sent";
  upstream->run();
  EXPECT_EQ(transit_.views(), 1U) << "until it is read";
  upstream->ended = absl::UnavailableError("closed");
  upstream->run();
  EXPECT_EQ(transit_.views(), 0U);
  EXPECT_FALSE(upstream->is_open);
  EXPECT_THAT(events_.raised, IsEmpty());
  EXPECT_THAT(host_.refusals, IsEmpty());
}

TEST_F(TransitViewsTest, PassARefusalBack) {
  const auto upstream = arrive(view());
  refuse(*connector_.reach(), "node n2 shows no view \"status\"", FailureScope::kFlow);
  EXPECT_EQ(reason_at(*upstream, FailureScope::kFlow), "node n2 shows no view \"status\"");
  EXPECT_THAT(events_.raised, IsEmpty());
}

TEST_F(TransitViewsTest, NameANodeOfAnEarlierVersion) {
  const auto upstream = arrive(view());
  refuse(*connector_.reach(), "any words", FailureScope::kCircuit, RefusalCause::kUnknownPurpose);
  EXPECT_EQ(reason_at(*upstream, FailureScope::kCircuit, RefusalCause::kOldEnd),
            "node n2 runs an earlier version, which answers no views");
}

TEST_F(TransitViewsTest, NameANodeOnTheWayThatIsOfAnEarlierVersion) {
  CircuitSetup longer = view();
  longer.hops.push_back({"c2", "10.0.2.1", "n3", "10.0.2.2", 7002, false});
  const auto upstream = arrive(longer);
  refuse(*connector_.reach(), "any words", FailureScope::kCircuit, RefusalCause::kUnknownPurpose);
  EXPECT_EQ(reason_at(*upstream, FailureScope::kCircuit, RefusalCause::kOldRelay),
            "node n2 runs an earlier version, which answers no views");
}

TEST_F(TransitViewsTest, PassACauseBackButNoneToACircuit) {
  for (const RefusalCause cause : {RefusalCause::kSilence, RefusalCause::kOldRelay, RefusalCause::kOldEnd}) {
    const auto upstream = arrive(view());
    refuse(*connector_.reach(), "node n3: its words", FailureScope::kCircuit, cause);
    EXPECT_EQ(reason_at(*upstream, FailureScope::kCircuit, cause), "node n3: its words");
  }
  host_.relayed = 0;
  const auto circuit = arrive(setup());
  refuse(*connector_.reach(), "node n3: its words", FailureScope::kCircuit, RefusalCause::kSilence);
  EXPECT_EQ(reason_at(*circuit), "node n3: its words") << "an earlier version takes no cause";
}

TEST_F(TransitViewsTest, TellOfANodeThatDoesNotAnswer) {
  const auto upstream = arrive(view());
  const auto downstream = connector_.reach();
  clock_.run_for(milliseconds(1000));
  EXPECT_THAT(reason_at(*upstream, FailureScope::kCircuit, RefusalCause::kSilence),
              HasSubstr("no answer to the set-up"));
}

TEST_F(TransitViewsTest, RefuseANodeThatAcceptsACircuitInstead) {
  const auto upstream = arrive(view());
  answer(*connector_.reach(), {4096, std::nullopt});
  EXPECT_THAT(reason_at(*upstream), HasSubstr("answered by a frame set-up-ok"));
}

TEST_F(TransitViewsTest, RefuseADocumentInPlaceOfACircuit) {
  host_.relayed = 0;
  const auto upstream = arrive(setup());
  show(*connector_.reach(), "{}");
  EXPECT_THAT(reason_at(*upstream), HasSubstr("answered by a frame document"));
}

TEST_F(TransitViewsTest, DoNotWaitForTheTopology) {
  host_.transit = absl::NotFoundError("no such cable yet");
  EXPECT_EQ(reason_at(*arrive(view())), "no such cable yet");
}

TEST_F(TransitViewsTest, FailAtOnceWhereNobodyListens) {
  const auto upstream = arrive(view());
  connector_.dialled.back()->connected(absl::NotFoundError("Connection refused"));
  EXPECT_THAT(reason_at(*upstream), HasSubstr("connection refused (is cablewayd running there?)"));
}

TEST_F(TransitViewsTest, BoundThoseOfANeighbour) {
  std::vector<std::shared_ptr<PlayedPeer>> open;
  for (std::size_t i = 0; i < TransitSetups::kMaxViews; ++i) open.push_back(arrive(view()));
  EXPECT_THAT(connector_.dialled, SizeIs(TransitSetups::kMaxViews));
  EXPECT_THAT(busy_reason_at(*arrive(view())), HasSubstr("already passes on 64 requests for views from node n0"));
  clock_.run_for(milliseconds(1100));
  EXPECT_EQ(transit_.views(), 0U) << "their time is over";
}

TEST_F(TransitViewsTest, EndADocumentThatIsNotRead) {
  const auto upstream = arrive(view());
  clock_.run_for(milliseconds(600));
  show(*connector_.reach(), "{}");
  upstream->run();
  EXPECT_EQ(transit_.views(), 1U);
  clock_.run_for(milliseconds(500));  // a second since the request
  EXPECT_EQ(transit_.views(), 0U);
  EXPECT_FALSE(upstream->is_open);
}

}  // namespace
}  // namespace cableway
