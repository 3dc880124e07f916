// The scope of a failure, on each kind of TCP link and on the connection beside an RDMA hop.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/linux/rdma/tcp_lifeline.h"
#include "core/linux/tcp/tcp_chunk_link.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host {
namespace {

using Place = TcpChunkLink::Place;

class NothingElse final : public ChunkLink::Sink {
 public:
  absl::Status on_landed(const Frame&) override { return absl::InternalError("a chunk"); }
  absl::Status on_chunk(const Frame&, Slot&) override { return absl::InternalError("a chunk"); }
  absl::Status on_control(const Frame&) override { return absl::InternalError("a frame"); }
  void on_sent(Slot*) override {}
};

class FailureScopeTest : public testing::TestWithParam<FailureScope> {
 protected:
  static absl::Status expected(const std::string& reason) {
    return GetParam() == FailureScope::kFlow ? absl::NotFoundError(reason) : absl::AbortedError(reason);
  }
  static void expect_failed(const UniqueFd& peer, const std::string& reason) {
    EXPECT_EQ(test::read_frame(peer.get()), failed_frame(static_cast<std::uint32_t>(reason.size()), GetParam()));
    EXPECT_EQ(test::read_text(peer.get(), reason.size()), reason);
    EXPECT_TRUE(test::reads_end(peer.get()));
  }
};

INSTANTIATE_TEST_SUITE_P(Scope, FailureScopeTest,
                         testing::Values(FailureScope::kCircuit, FailureScope::kFlow, FailureScope::kBusy),
                         [](const auto& scope) {
                           if (scope.param == FailureScope::kBusy) return "Busy";
                           return scope.param == FailureScope::kFlow ? "Flow" : "Circuit";
                         });

TEST_P(FailureScopeTest, IsSentByALink) {
  auto [here, there] = test::connected_pair();
  TcpChunkLink link(std::move(here), Place::kFlowEnd);
  link.fail("had enough", GetParam());
  expect_failed(there, "had enough");
}

TEST_P(FailureScopeTest, IsReportedByEachKindOfLink) {
  struct Kind {
    Place place;
    SlotKind slots;
  };
  for (const Kind& kind :
       {Kind{Place::kFlowEnd, SlotKind::kUnregistered}, Kind{Place::kRelayUpstream, SlotKind::kUnregistered},
        Kind{Place::kRelayDownstream, SlotKind::kUnregistered}, Kind{Place::kRelayUpstream, SlotKind::kRegistered},
        Kind{Place::kRelayDownstream, SlotKind::kRegistered}}) {
    auto [here, there] = test::connected_pair();
    TcpChunkLink link(std::move(here), kind.place, kind.slots);
    test::write_failure(there.get(), "had\nenough", GetParam());
    NothingElse sink;
    absl::Status status;
    const auto step = [&] {
      link.on_readable(false);
      status = link.progress(sink);
    };
    EXPECT_TRUE(test::run_until([&] { return !status.ok(); }, step));
    EXPECT_EQ(status, expected("had?enough")) << static_cast<int>(kind.place) << static_cast<int>(kind.slots);
  }
}

TEST_P(FailureScopeTest, IsSentOverALifeline) {
  auto [here, there] = test::connected_pair();
  TcpLifeline line(std::move(here));
  const Frame last{FrameKind::kAck, 0, 3, 0, 10};
  line.leave({&last, 1}, HopLifeline::Failure{"had enough", GetParam()});
  EXPECT_EQ(test::read_frame(there.get()), last);
  expect_failed(there, "had enough");
}

TEST_P(FailureScopeTest, IsReportedByALifeline) {
  auto [here, there] = test::connected_pair();
  TcpLifeline line(std::move(here));
  test::write_failure(there.get(), "had\nenough", GetParam());
  absl::StatusOr<std::optional<Frame>> seen = std::nullopt;
  EXPECT_TRUE(test::run_until([&] { return !seen.ok(); }, [&] { seen = line.look(); }));
  EXPECT_EQ(seen.status(), expected("had?enough"));
}

TEST_P(FailureScopeTest, SurvivesAnEmptyReason) {
  auto [here, there] = test::connected_pair();
  TcpLifeline line(std::move(here));
  line.leave({}, HopLifeline::Failure{"", GetParam()});
  expect_failed(there, "");
}

TEST(TcpLifelineTest, ClosesWithoutAFailure) {
  auto [here, there] = test::connected_pair();
  TcpLifeline line(std::move(here));
  line.leave({}, std::nullopt);
  EXPECT_TRUE(test::reads_end(there.get()));
}

}  // namespace
}  // namespace cableway::host
