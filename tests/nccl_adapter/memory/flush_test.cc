// iflush and its completion, on a receive comm over RDMA.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "nccl_adapter/comm/recv_comm.h"
#include "tests/nccl_adapter/fake_hop.h"

namespace cableway::nccl {
namespace {

using testing::HasSubstr;
using Kind = NamedMemory::Kind;

class FlushTest : public testing::Test {
 protected:
  FlushTest() : device_(verbs_.open(fake_)), hop_(test::make_rdma_hop(device_, fake_.gid)) {
    comm_ = std::make_unique<RecvComm>(
        FlowComm::Origin{unused_context(), "flow from node b", "a", Log(nullptr), [](FlowComm*) {}});
    EXPECT_TRUE(comm_->join(test::setup_over("a.eth0-b.eth0", "b", "a"), std::move(hop_.connection)).ok());
    gpu_ = comm_->register_memory(named(Kind::kDmabuf)).value();
    host_ = comm_->register_memory(named(Kind::kHost)).value();
  }

  // A comm only passes its context on, and does not access it.
  Context& unused_context() { return reinterpret_cast<Context&>(context_); }
  NamedMemory named(Kind kind) {
    NamedMemory memory{.kind = kind, .data = bytes_.data(), .bytes = bytes_.size()};
    if (kind == Kind::kDmabuf) memory.fd = STDERR_FILENO;  // only copied
    return memory;
  }
  Request* flush() { return comm_->flush(bytes_.data(), gpu_).value(); }
  bool is_done(Request* request) { return comm_->test(request).value().done; }

  alignas(std::max_align_t) std::array<std::byte, 1024> context_{};
  std::array<std::byte, 4096> bytes_{};
  host::test::FakeVerbs verbs_;
  host::test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0");
  std::shared_ptr<host::VerbsDevice> device_;
  test::FakeHop hop_;
  std::unique_ptr<RecvComm> comm_;
  MemoryRegion* gpu_ = nullptr;
  MemoryRegion* host_ = nullptr;
};

TEST_F(FlushTest, IsDoneWhenTheDeviceHasRead) {
  fake_.holds_completions = true;
  Request* const request = flush();
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(fake_.reads, 1U);
  EXPECT_FALSE(is_done(request));
  fake_.holds_completions = false;
  EXPECT_TRUE(is_done(request));
  EXPECT_EQ(comm_->test(request).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(FlushTest, HostMemoryNeedsNoFlush) {
  EXPECT_EQ(comm_->flush(bytes_.data(), host_).value(), nullptr);
  EXPECT_EQ(comm_->flush(bytes_.data(), nullptr).value(), nullptr);
  EXPECT_EQ(fake_.reads, 0U);
}

TEST_F(FlushTest, RequiresRegisteredMemory) {
  const absl::Status refused = comm_->flush(bytes_.data() + bytes_.size(), gpu_).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr(": a buffer of 1 bytes is not inside"));
  EXPECT_EQ(fake_.reads, 0U);
}

TEST_F(FlushTest, AllowsAsManyAsReceivesAndFailsBeyond) {
  fake_.holds_completions = true;
  std::vector<Request*> requests;
  for (std::size_t i = 0; i < kMaxLandings; ++i) requests.push_back(flush());
  const absl::Status refused = comm_->flush(bytes_.data(), gpu_).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr(": more than 32 flushes at once"));
  fake_.holds_completions = false;
  for (Request* request : requests) EXPECT_TRUE(is_done(request));
  EXPECT_TRUE(is_done(flush()));
}

TEST_F(FlushTest, FailsWithTheDevicesReason) {
  fake_.read_status = IBV_WC_REM_ACCESS_ERR;
  Request* const request = flush();
  EXPECT_THAT(comm_->test(request).status().message(),
              HasSubstr(": RDMA device mlx5_0 cannot read back what was written to GPU memory "
                        "(remote access error)"));
  EXPECT_FALSE(comm_->flush(bytes_.data(), gpu_).ok());
}

TEST_F(FlushTest, DoesNotWaitForALostDevice) {
  fake_.holds_completions = true;
  Request* const request = flush();
  EXPECT_FALSE(comm_->test(request).value().done);
  device_->give_up();
  EXPECT_THAT(comm_->test(request).status().message(), HasSubstr("RDMA device mlx5_0 failed before it read back"));
}

TEST_F(FlushTest, WorksAfterTheFlowHasEnded) {
  Request* const receive = comm_->receive(bytes_.data(), bytes_.size(), gpu_).value();
  ASSERT_NE(receive, nullptr);
  hop_.other_end.reset();
  ASSERT_TRUE(host::test::run_until([&] { return comm_->live() == 0; }, [&] { comm_->test(receive).IgnoreError(); }));
  comm_->end(absl::UnavailableError("no other path"));
  EXPECT_FALSE(comm_->test(receive).ok());
  EXPECT_TRUE(is_done(flush()));
}

TEST_F(FlushTest, DeregisteringMemoryInUseEndsTheFlow) {
  fake_.holds_completions = true;
  Request* const request = flush();
  const std::uint32_t key = gpu_->remote_keys[0];
  EXPECT_TRUE(comm_->deregister_memory(gpu_).ok());
  for (const auto& each : fake_.registrations) EXPECT_TRUE(each.key != key || !each.is_live);
  EXPECT_FALSE(comm_->test(request).ok());
  EXPECT_THAT(comm_->receive(bytes_.data(), 1, host_).status().message(),
              HasSubstr("its memory was deregistered while in use"));
}

TEST_F(FlushTest, NothingIsReadAfterItsCommIsClosed) {
  fake_.holds_completions = true;
  static_cast<void>(flush());
  static_cast<void>(comm_->close());
  EXPECT_FALSE(comm_->flush(bytes_.data(), gpu_).ok());
  EXPECT_EQ(fake_.reads, 1U);
}

}  // namespace
}  // namespace cableway::nccl
