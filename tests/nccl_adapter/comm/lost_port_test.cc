// How a flow ends when the node reports that the port of its hop is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "nccl_adapter/comm/recv_comm.h"
#include "tests/nccl_adapter/fake_hop.h"

namespace cableway::nccl {
namespace {

class LostPortTest : public testing::Test {
 protected:
  // At port eth1 of node b; `request_` waits for data.
  void open(test::FakeHop hop) {
    other_end_ = std::move(hop.other_end);
    comm_ = std::make_unique<RecvComm>(reinterpret_cast<Context&>(context_), std::move(hop.link),
                                       FlowComm::Names{"flow from node a", {"b", "eth1", "a", "eth0", "a.eth0-b.eth1"}},
                                       Log(nullptr));
    MemoryRegion* const region = comm_->register_memory({.data = bytes_.data(), .bytes = bytes_.size()}).value();
    request_ = comm_->receive(bytes_.data(), bytes_.size(), region).value();
    ASSERT_NE(request_, nullptr);
  }
  std::string outcome() { return std::string(comm_->test(request_).status().message()); }

  alignas(std::max_align_t) std::array<std::byte, 1024> context_{};  // passed on, and never accessed
  std::array<std::byte, 4096> bytes_{};
  host::UniqueFd other_end_;
  std::unique_ptr<RecvComm> comm_;
  Request* request_ = nullptr;
};

TEST_F(LostPortTest, FailsTheNextTestAndTellsTheOtherEnd) {
  open(test::make_tcp_hop());
  EXPECT_EQ(outcome(), "");
  EXPECT_EQ(host::test::read_frame(other_end_.get()).kind, FrameKind::kAnnounce);
  comm_->lose_port({"eth1", "the port has lost its carrier"});
  const std::string found = "node b port eth1 (cable to a eth0): the port has lost its carrier";
  EXPECT_EQ(outcome(), "flow from node a failed: " + found);
  EXPECT_EQ(comm_->failure(), "flow from node a failed: " + found);
  const Frame failed = host::test::read_frame(other_end_.get());
  EXPECT_EQ(failed.kind, FrameKind::kFailed);
  EXPECT_EQ(host::test::read_text(other_end_.get(), failed.payload), found);
}

TEST_F(LostPortTest, IsNoOtherPort) {
  open(test::make_tcp_hop());
  for (const char* interface : {"eth0", "eth2", "eth", "eth11", ""}) comm_->lose_port({interface, "lost"});
  EXPECT_EQ(outcome(), "");
}

TEST_F(LostPortTest, AFailedRdmaDeviceEndsOnlyWhatItMoves) {
  const PortLost lost{"eth1", "RDMA device mlx5_0: port error", true};
  open(test::make_tcp_hop());
  comm_->lose_port(lost);
  EXPECT_EQ(outcome(), "");

  host::test::FakeVerbs verbs;
  host::test::FakeVerbsDevice& fake = verbs.add("mlx5_0");
  open(test::make_rdma_hop(verbs.open(fake), fake.gid));
  comm_->lose_port(lost);
  EXPECT_EQ(outcome(), "flow from node a failed: node b port eth1 (cable to a eth0): RDMA device mlx5_0: port error");
  comm_.reset();  // before the device
}

}  // namespace
}  // namespace cableway::nccl
