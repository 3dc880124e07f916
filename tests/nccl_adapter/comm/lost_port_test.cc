// How a circuit ends when the node reports that the port of its hop is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "nccl_adapter/comm/recv_comm.h"
#include "nccl_adapter/comm/send_comm.h"
#include "tests/nccl_adapter/fake_hop.h"

namespace cableway::nccl {
namespace {

class LostPortTest : public testing::Test {
 protected:
  // At port eth1 of node b; `request_` waits for data.
  void open(test::FakeHop hop) {
    other_end_ = std::move(hop.other_end);
    comm_ = std::make_unique<RecvComm>(FlowComm::Origin{reinterpret_cast<Context&>(context_), "flow from node a", "b",
                                                        Log(nullptr), [this](FlowComm*) { ++ends_; }});
    ASSERT_TRUE(comm_->join(test::setup_over("a.eth0-b.eth1", "a", "b"), std::move(hop.connection)).ok());
    region_ = comm_->register_memory({.data = bytes_.data(), .bytes = bytes_.size()}).value();
    request_ = comm_->receive(bytes_.data(), bytes_.size(), region_).value();
    ASSERT_NE(request_, nullptr);
  }
  // Why a circuit has ended that was not reported yet; "" if none has.
  std::string ended() {
    EXPECT_FALSE(comm_->test(request_).value().done);
    const CommCircuits::Ended ended = comm_->take_ended();
    return ended.circuits.empty() ? "" : std::string(ended.reason.message());
  }

  alignas(std::max_align_t) std::array<std::byte, 1024> context_{};  // passed on, and never accessed
  std::array<std::byte, 4096> bytes_{};
  host::UniqueFd other_end_;
  std::unique_ptr<RecvComm> comm_;
  MemoryRegion* region_ = nullptr;
  Request* request_ = nullptr;
  int ends_ = 0;
};

TEST_F(LostPortTest, EndsTheCircuitAndTellsTheOtherEnd) {
  open(test::make_tcp_hop());
  EXPECT_EQ(ended(), "");
  EXPECT_EQ(host::test::read_frame(other_end_.get()).kind, FrameKind::kAnnounce);
  comm_->lose_port({"eth1", "the port has lost its carrier"});
  const std::string found = "node b port eth1 (cable to a eth0): the port has lost its carrier";
  EXPECT_EQ(ends_, 1);
  EXPECT_EQ(ended(), found);
  EXPECT_EQ(ended(), "") << "reported already";
  EXPECT_EQ(ends_, 1);
  const Frame failed = host::test::read_frame(other_end_.get());
  EXPECT_EQ(failed.kind, FrameKind::kFailed);
  EXPECT_EQ(scope_of(failed), FailureScope::kCircuit);
  EXPECT_EQ(host::test::read_text(other_end_.get(), failed.payload), found);
}

// Else the process would wait for it when it ends.
TEST_F(LostPortTest, LeavesNoConnectionToBeDrained) {
  open(test::make_tcp_hop());
  // The other end may tell it sooner than the kernel does.
  comm_->end_circuit({0, 1}, absl::UnavailableError("node a port eth0: the port has lost its carrier"));
  comm_->lose_port({"eth1", "the port has lost its carrier"});
  EXPECT_THAT(comm_->close(), testing::IsEmpty());
}

TEST_F(LostPortTest, OfOneCableThatMayPassSmallPacketsTheConnectionIsDrained) {
  open(test::make_tcp_hop());
  comm_->lose_port({"eth1", "large packets are lost", false, "a.eth0-b.eth1", false});
  EXPECT_EQ(ended(), "node b port eth1 (cable to a eth0): large packets are lost");
  EXPECT_THAT(comm_->close(), testing::SizeIs(1));
}

// NCCL gives the job up, as another of its flows has failed by then. The other end of the lost path has the true
// reason.
TEST_F(LostPortTest, IsTheReasonWhereMemoryIsDeregisteredAfterwards) {
  open(test::make_tcp_hop());
  test::FakeHop second = test::make_tcp_hop();
  CircuitSetup setup = test::setup_over("a.eth2-b.eth3", "a", "b", {1, 1});
  ASSERT_TRUE(comm_->join(setup, std::move(second.connection)).ok());
  comm_->lose_port({"eth1", "the port has lost its carrier"});
  EXPECT_TRUE(comm_->deregister_memory(region_).ok());
  const auto told = [](int socket) {
    Frame frame;
    do {
      frame = host::test::read_frame(socket);
    } while (frame.kind == FrameKind::kAnnounce || frame.kind == FrameKind::kRetired);
    EXPECT_EQ(frame.kind, FrameKind::kFailed);
    return host::test::read_text(socket, frame.payload);
  };
  EXPECT_EQ(told(other_end_.get()), "node b port eth1 (cable to a eth0): the port has lost its carrier");
  EXPECT_TRUE(host::test::reads_end(other_end_.get())) << "nothing about memory";
  EXPECT_EQ(told(second.other_end.get()), "node b: its memory was deregistered while in use");
}

TEST_F(LostPortTest, IsTheCauseOfAFlowThatIsGivenUpWithoutAPath) {
  open(test::make_tcp_hop());
  comm_->lose_port({"eth1", "the port has lost its carrier"});
  EXPECT_TRUE(comm_->deregister_memory(region_).ok());
  EXPECT_THAT(comm_->failure(), testing::HasSubstr("failed: node b port eth1 (cable to a eth0): the port has lost its "
                                                   "carrier; then its memory was deregistered while in use"));
}

// The other end asks after a flow whose end here is idle, and has not noticed that its circuit is gone.
TEST_F(LostPortTest, AnIdleEndFindsThatItsCircuitHasEndedWhenItIsPolled) {
  test::FakeHop hop = test::make_tcp_hop();
  SendComm comm(FlowComm::Origin{reinterpret_cast<Context&>(context_), "flow to node a", "b", Log(nullptr),
                                 [this](FlowComm*) { ++ends_; }});
  ASSERT_TRUE(comm.join(test::setup_over("a.eth0-b.eth1", "b", "a", *comm.reserve()), std::move(hop.connection)).ok());
  comm.poll_if_idle();
  EXPECT_EQ(comm.live(), 1U);
  hop.other_end.reset();
  EXPECT_TRUE(host::test::run_until([&] { return comm.live() == 0; }, [&] { comm.poll_if_idle(); }));
  EXPECT_EQ(ends_, 1);
}

TEST_F(LostPortTest, IsNoOtherPort) {
  open(test::make_tcp_hop());
  for (const char* interface : {"eth0", "eth2", "eth", "eth11", ""}) comm_->lose_port({interface, "lost"});
  EXPECT_EQ(ended(), "");
}

TEST_F(LostPortTest, AFailedRdmaDeviceEndsOnlyWhatItMoves) {
  const PortLost lost{"eth1", "RDMA device mlx5_0: port error", true};
  open(test::make_tcp_hop());
  comm_->lose_port(lost);
  EXPECT_EQ(ended(), "");

  host::test::FakeVerbs verbs;
  host::test::FakeVerbsDevice& fake = verbs.add("mlx5_0");
  open(test::make_rdma_hop(verbs.open(fake), fake.gid));
  comm_->lose_port(lost);
  EXPECT_EQ(ended(), "node b port eth1 (cable to a eth0): RDMA device mlx5_0: port error");
  comm_.reset();  // before the device
}

}  // namespace
}  // namespace cableway::nccl
