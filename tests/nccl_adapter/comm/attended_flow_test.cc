// What a receive comm answers while NCCL has no requests: its source may wait for a count.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>

#include "core/flow/circuit_name.h"
#include "nccl_adapter/comm/recv_comm.h"
#include "nccl_adapter/comm/send_comm.h"
#include "tests/nccl_adapter/fake_hop.h"

namespace cableway::nccl {
namespace {

constexpr CircuitName kBefore{0, 1};
constexpr CircuitName kAfter{1, 1};

class AttendedFlowTest : public testing::Test {
 protected:
  FlowComm::Origin origin(const char* flow) {
    return {reinterpret_cast<Context&>(context_), flow, "b", Log(nullptr), [this](FlowComm*) { ++calls_; }};
  }
  static void join(FlowComm& comm, const CircuitName& circuit, test::FakeHop& hop) {
    ASSERT_TRUE(comm.join(test::setup_over("a.eth0-b.eth1", "a", "b", circuit), std::move(hop.connection)).ok());
  }

  alignas(std::max_align_t) std::array<std::byte, 1024> context_{};  // passed on, and never accessed
  std::array<std::byte, 4096> bytes_{};
  test::FakeHop first_ = test::make_tcp_hop();
  test::FakeHop second_ = test::make_tcp_hop();
  int calls_ = 0;
};

TEST_F(AttendedFlowTest, AnswersARetiredCircuitWithoutARequest) {
  RecvComm comm(origin("flow from node a"));
  join(comm, kBefore, first_);
  EXPECT_FALSE(comm.attend()) << "its circuit is its first";
  join(comm, kAfter, second_);
  host::test::write_frame(second_.other_end.get(), retire_frame(kBefore));
  const bool retired = host::test::run_until([&] { return comm.live() == 1; }, [&] { EXPECT_TRUE(comm.attend()); });
  EXPECT_TRUE(retired);
  Frame answer;
  do {
    answer = host::test::read_frame(second_.other_end.get());
  } while (answer.kind == FrameKind::kAnnounce);
  EXPECT_EQ(answer, retired_frame(kBefore, 0));
}

TEST_F(AttendedFlowTest, EndsASecondAfterTheFlowWasInUse) {
  RecvComm comm(origin("flow from node a"));
  join(comm, kBefore, first_);
  join(comm, kAfter, second_);
  const auto since = std::chrono::steady_clock::now();
  bool attended = comm.attend();
  EXPECT_TRUE(attended);
  EXPECT_TRUE(host::test::run_until([&] { return !attended; }, [&] { attended = comm.attend(); }));
  EXPECT_GE(std::chrono::steady_clock::now() - since, FlowComm::kAttended);
}

// It was idle when its circuit ended, so it did not look for another one.
TEST_F(AttendedFlowTest, AMessageWithoutACircuitCallsTheControlThread) {
  SendComm comm(origin("flow to node a"));
  MemoryRegion* const region = comm.register_memory({.data = bytes_.data(), .bytes = bytes_.size()}).value();
  join(comm, *comm.reserve(), first_);
  first_.other_end.reset();
  EXPECT_TRUE(host::test::run_until([&] { return comm.live() == 0; }, [&] { comm.poll_if_idle(); }));
  EXPECT_EQ(calls_, 1);
  EXPECT_TRUE(comm.send(bytes_.data(), bytes_.size(), region).ok());
  EXPECT_EQ(calls_, 2);
}

}  // namespace
}  // namespace cableway::nccl
