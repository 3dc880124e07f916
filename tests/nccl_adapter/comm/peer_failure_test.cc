// How a circuit or its flow ends when the other end, or a relay, says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "nccl_adapter/abi/result.h"
#include "nccl_adapter/comm/recv_comm.h"
#include "tests/nccl_adapter/fake_hop.h"

namespace cableway::nccl {
namespace {

class PeerFailureTest : public testing::Test {
 protected:
  PeerFailureTest() {
    EXPECT_TRUE(comm_.join(test::setup_over("a.eth0-b.eth1", "a", "b"), std::move(hop_.connection)).ok());
    MemoryRegion* const region = comm_.register_memory({.data = bytes_.data(), .bytes = bytes_.size()}).value();
    request_ = comm_.receive(bytes_.data(), bytes_.size(), region).value();
    EXPECT_EQ(host::test::read_frame(other_end()).kind, FrameKind::kAnnounce);
  }
  int other_end() const { return hop_.other_end.get(); }
  absl::Status failure() {
    absl::Status status;
    EXPECT_TRUE(host::test::run_until([&] { return !status.ok(); }, [&] { status = comm_.test(request_).status(); }));
    return status;
  }
  // Why the circuit has ended; the flow waits for another one.
  absl::Status circuits_end() {
    EXPECT_TRUE(host::test::run_until([&] { return comm_.live() == 0; },
                                      [&] { EXPECT_FALSE(comm_.test(request_).value().done); }));
    return comm_.take_ended().reason;
  }
  void expect_told(const std::string& reason) const {
    const Frame told = host::test::read_frame(other_end());
    EXPECT_EQ(told, failed_frame(static_cast<std::uint32_t>(reason.size()), FailureScope::kFlow));
    EXPECT_EQ(host::test::read_text(other_end(), told.payload), reason);
  }

  alignas(std::max_align_t) std::array<std::byte, 1024> context_{};  // passed on, and never accessed
  std::array<std::byte, 4096> bytes_{};
  test::FakeHop hop_ = test::make_tcp_hop();
  RecvComm comm_{
      FlowComm::Origin{reinterpret_cast<Context&>(context_), "flow from node a", "b", Log(nullptr), [](FlowComm*) {}}};
  Request* request_ = nullptr;
};

TEST_F(PeerFailureTest, OfTheCircuitNamesItsReasonAlone) {
  host::test::write_failure(other_end(), "node r: the cable was pulled", FailureScope::kCircuit);
  EXPECT_EQ(circuits_end(), absl::AbortedError("node r: the cable was pulled"));
}

TEST_F(PeerFailureTest, OfTheFlowNamesItsReasonAlone) {
  host::test::write_failure(other_end(), "node a: the job has ended", FailureScope::kFlow);
  EXPECT_EQ(failure(),
            absl::NotFoundError("flow from node a (a -a.eth0-b.eth1-> b) failed: \"node a: the job has ended\""));
}

// The peer's words must not pass for this node's.
TEST_F(PeerFailureTest, OfTheFlowIsQuoted) {
  host::test::write_failure(other_end(), "x\"; node b port eth1: the port has lost its carrier", FailureScope::kFlow);
  EXPECT_EQ(failure(), absl::NotFoundError("flow from node a (a -a.eth0-b.eth1-> b) failed: \"x\\\"; node b port eth1: "
                                           "the port has lost its carrier\""));
}

TEST_F(PeerFailureTest, IsARemoteErrorWhateverItsScope) {
  EXPECT_EQ(to_result(received_failure(FailureScope::kCircuit, "")), abi::kRemoteError);
  EXPECT_EQ(to_result(received_failure(FailureScope::kFlow, "")), abi::kRemoteError);
}

TEST_F(PeerFailureTest, FoundHereEndsTheCircuitThere) {
  host::test::write_all(other_end(), std::string(64, 'x'));
  EXPECT_FALSE(circuits_end().ok());
  const Frame told = host::test::read_frame(other_end());
  EXPECT_EQ(told, failed_frame(told.payload, FailureScope::kCircuit));
  EXPECT_THAT(host::test::read_text(other_end(), told.payload),
              testing::StartsWith("node b port eth1 (cable to a eth0): not a Cableway frame"));
}

TEST_F(PeerFailureTest, AnAbandonedCommEndsTheFlowThere) {
  const std::vector<host::UniqueFd> connections = comm_.abandon("its communicator was finalized");
  expect_told("node b: its communicator was finalized");
}

}  // namespace
}  // namespace cableway::nccl
