#include "core/flow/chunk_link.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "tests/core/flow/loose_hop.h"

namespace cableway {
namespace {

TEST(ReceivedFailure, TellsWhetherTheFlowHasEnded) {
  const absl::Status circuit = received_failure(FailureScope::kCircuit, "the cable was pulled");
  EXPECT_EQ(circuit, absl::AbortedError("the cable was pulled"));
  EXPECT_TRUE(was_received(circuit));
  EXPECT_FALSE(ends_flow(circuit));
  EXPECT_EQ(scope_of(circuit), FailureScope::kCircuit);
  const absl::Status flow = received_failure(FailureScope::kFlow, "the job has ended");
  EXPECT_EQ(flow, absl::NotFoundError("the job has ended"));
  EXPECT_TRUE(was_received(flow));
  EXPECT_TRUE(ends_flow(flow));
  EXPECT_EQ(scope_of(flow), FailureScope::kFlow);
}

TEST(ReceivedFailure, EndsTheCircuitWhereItWouldRefuseASetUpForNow) {
  EXPECT_EQ(received_failure(FailureScope::kBusy, "no room"), received_failure(FailureScope::kCircuit, "no room"));
}

TEST(ReceivedFailure, IsNothingElse) {
  for (const absl::Status& other : {absl::OkStatus(), absl::CancelledError("closed"), absl::UnavailableError("broken"),
                                    absl::InvalidArgumentError("malformed"), absl::FailedPreconditionError("fenced")}) {
    EXPECT_FALSE(was_received(other)) << other;
    EXPECT_FALSE(ends_flow(other)) << other;
    EXPECT_EQ(scope_of(other), FailureScope::kCircuit) << other;
  }
}

TEST(FoundAt, NamesTheEndThatFoundAReason) {
  EXPECT_EQ(found_at("node n0 port eth1 (cable to n1 eth0)", absl::UnavailableError("it is silent")),
            absl::UnavailableError("node n0 port eth1 (cable to n1 eth0): it is silent"));
  EXPECT_EQ(found_at("", absl::UnavailableError("it is silent")), absl::UnavailableError("it is silent"));
}

TEST(FoundAt, LeavesThePeersReasonUnchanged) {
  for (const FailureScope scope : {FailureScope::kCircuit, FailureScope::kFlow}) {
    const absl::Status received = received_failure(scope, "node n2: no memory");
    EXPECT_EQ(found_at("node n1", received), received);
  }
}

// The status that the other end of a hop gets when this end ends it for a reason.
absl::Status heard_of(const absl::Status& reason, const char* where = "node n0 port a") {
  test::LooseHop hop;
  end_hop(hop.source, where, reason);
  EXPECT_TRUE(hop.source.fenced());
  EXPECT_TRUE(hop.deliver_down());
  return hop.destination.noticed();
}

TEST(EndHop, TellsWhatWasFoundHere) {
  EXPECT_EQ(heard_of(absl::UnavailableError("the cable was pulled")),
            absl::AbortedError("node n0 port a: the cable was pulled"));
  EXPECT_EQ(heard_of(absl::UnavailableError("the cable was pulled"), ""), absl::AbortedError("the cable was pulled"));
}

TEST(EndHop, ClosesWithoutAReasonThatTheOtherEndHas) {
  EXPECT_TRUE(absl::IsCancelled(heard_of(absl::AbortedError("node n1: no memory"))));
  EXPECT_TRUE(absl::IsCancelled(heard_of(absl::CancelledError("the peer closed the connection"))));
}

// The end of the flow may have arrived over another circuit: the relays of this one have not been told.
TEST(EndHop, PassesTheEndOfTheFlowOn) {
  EXPECT_EQ(heard_of(absl::NotFoundError("node n2: the job has ended")),
            absl::NotFoundError("node n2: the job has ended"));
}

}  // namespace
}  // namespace cableway
