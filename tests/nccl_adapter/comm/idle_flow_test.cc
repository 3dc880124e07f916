// What a send comm does for the relay behind its hop while NCCL has no requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>

#include "core/linux/rdma/verbs_memory.h"
#include "core/rdma/registered_slot.h"
#include "nccl_adapter/comm/send_comm.h"
#include "tests/nccl_adapter/fake_hop.h"

namespace cableway::nccl {
namespace {

using testing::HasSubstr;

constexpr std::size_t kSlotBytes = 4096;

class Silent final : public ChunkLink::Sink {
 public:
  absl::Status on_landed(const Frame&) override { return absl::InternalError("nothing lands here"); }
  absl::Status on_chunk(const Frame&, Slot&) override {
    ++chunks;
    return absl::OkStatus();
  }
  absl::Status on_control(const Frame&) override { return absl::InternalError("it says nothing"); }
  void on_sent(Slot*) override {}

  int chunks = 0;
};

class IdleFlowTest : public testing::Test {
 protected:
  IdleFlowTest() {
    comm_ = std::make_unique<SendComm>(
        FlowComm::Origin{unused_context(), "flow to node c", "a", Log(nullptr), [](FlowComm*) {}});
    CircuitSetup setup = test::setup_over("a.eth0-b.eth0", "a", "b", *comm_->reserve());
    setup.hops.push_back(Hop{"b.eth1-c.eth0", "10.0.1.1", "c", "10.0.1.2", 7000, false});
    EXPECT_TRUE(comm_->join(setup, std::move(hop_.source)).ok());
    region_ = comm_->register_memory({.data = bytes_.data(), .bytes = bytes_.size()}).value();
    comm_->tend();  // sends its first frame
    relay_polls();
    relay().post_slot(slot_);
    relay_polls();
    comm_->tend();
  }

  // A comm only passes its context on, and does not access it.
  Context& unused_context() { return reinterpret_cast<Context&>(context_); }
  ChunkLink& relay() { return hop_.relay->link(); }
  void relay_polls() { ASSERT_TRUE(relay().progress(silent_).ok()); }
  // As a relay does every time it rests.
  bool slot_is_back() {
    const bool back = relay().withdraw_slot(slot_);
    relay_polls();
    return back;
  }
  void announce(std::uint64_t message) {
    ASSERT_TRUE(relay().send_control(Frame{FrameKind::kAnnounce, 0, message, 0, bytes_.size()}).ok());
    relay_polls();
  }

  alignas(std::max_align_t) std::array<std::byte, 1024> context_{};
  std::array<std::byte, kSlotBytes> bytes_{};
  std::array<std::byte, kSlotBytes> slot_bytes_{};
  host::test::FakeVerbs verbs_;
  host::test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0");
  std::shared_ptr<host::VerbsDevice> device_ = verbs_.open(fake_);
  std::unique_ptr<host::VerbsMemory> slot_memory_ =
      host::VerbsMemory::add(device_, slot_bytes_.data(), slot_bytes_.size(), host::VerbsRights{.remote_write = true})
          .value();
  std::array<RdmaKeys, 1> slot_keys_{slot_memory_->keys()};
  RegisteredSlot slot_{slot_bytes_, slot_keys_};
  Silent silent_;
  test::FakeFirstHop hop_ = test::make_first_hop(device_, fake_.gid, kSlotBytes);
  std::unique_ptr<SendComm> comm_;
  MemoryRegion* region_ = nullptr;
};

TEST_F(IdleFlowTest, ReturnsSlotsThatARelayLent) {
  EXPECT_FALSE(slot_is_back());
  EXPECT_FALSE(slot_is_back()) << "recalled, but not polled yet";
  comm_->tend();
  relay_polls();
  EXPECT_TRUE(slot_is_back());
  EXPECT_EQ(silent_.chunks, 0);
}

TEST_F(IdleFlowTest, IsPolledByNcclOnlyWhileItHasRequests) {
  Request* const request = comm_->send(bytes_.data(), bytes_.size(), region_).value();
  ASSERT_NE(request, nullptr);
  announce(0);
  comm_->tend();
  relay_polls();
  EXPECT_EQ(silent_.chunks, 0) << "NCCL's memory was read by another thread";
  EXPECT_FALSE(comm_->test(request).value().done);
  relay_polls();
  EXPECT_EQ(silent_.chunks, 1);
}

TEST_F(IdleFlowTest, AFailureIsReportedOnceTheFlowIsUsed) {
  EXPECT_FALSE(slot_is_back());
  fake_.posting_error = EIO;  // the answer cannot be sent
  comm_->tend();
  EXPECT_EQ(comm_->live(), 0U);
  const CommCircuits::Ended ended = comm_->take_ended();
  EXPECT_THAT(ended.circuits, testing::ElementsAre(CircuitName{0, 1}));
  ASSERT_THAT(ended.ends, testing::SizeIs(1));
  EXPECT_EQ(ended.ends[0].circuit, (CircuitName{0, 1}));
  EXPECT_EQ(ended.ends[0].kind, CircuitEndKind::kFailed);
  EXPECT_EQ(ended.ends[0].reason, ended.reason.message());
  EXPECT_THAT(ended.reason.message(), HasSubstr("node a port eth0 (cable to b eth0): RDMA device mlx5_0"));
  comm_->end(ended.reason);
  EXPECT_EQ(comm_->failure(), "");
  const absl::Status failed = comm_->send(bytes_.data(), bytes_.size(), region_).status();
  EXPECT_THAT(failed.message(),
              HasSubstr("flow to node c (a -a.eth0-b.eth0-> b -b.eth1-c.eth0-> c) failed: node a port "
                        "eth0 (cable to b eth0): RDMA device mlx5_0"));
  comm_->log_failure(failed);
  EXPECT_EQ(comm_->failure(), failed.message());
}

// Its relay gives the reason on the connection beside the hop, where a link looks after many polls only. The
// destination asks whether its source knows.
TEST_F(IdleFlowTest, SeesThatItsCircuitHasEndedWithTheFirstPoll) {
  relay().fail("node b port eth1: it has lost its carrier", FailureScope::kCircuit);
  comm_->poll_if_idle();
  EXPECT_EQ(comm_->live(), 0U);
  EXPECT_THAT(comm_->take_ended().reason.message(), HasSubstr("node b port eth1: it has lost its carrier"));
}

TEST_F(IdleFlowTest, IsNotPolledAfterItsClose) {
  EXPECT_FALSE(slot_is_back());
  static_cast<void>(comm_->close());
  const std::string before = comm_->failure();
  comm_->tend();
  EXPECT_EQ(comm_->failure(), before);
}

}  // namespace
}  // namespace cableway::nccl
