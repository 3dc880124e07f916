// How a queue pair interprets a device's completions.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "absl/status/status.h"
#include "core/linux/rdma/verbs_queue_pair.h"
#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::host {
namespace {

class VerbsCompletionsTest : public testing::Test {
 protected:
  void complete(ibv_wc_opcode opcode, std::uint64_t id, std::uint32_t immediate = 0) {
    ibv_wc done{};
    done.wr_id = id;
    done.opcode = opcode;
    done.imm_data = htonl(immediate);
    fake_.extra_completions.push_back(done);
  }

  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0", VerbsGid{3, {std::byte{0xfe}, std::byte{0x80}}});
  std::shared_ptr<VerbsDevice> device_ = verbs_.open(fake_);
  std::unique_ptr<VerbsQueuePair> pair_ = VerbsQueuePair::create(device_, fake_.gid, 1, {}).value();
  std::array<RdmaCompletion, 4> seen_{};
};

TEST_F(VerbsCompletionsTest, AreOwnWritesOrTheNeighboursNotices) {
  complete(IBV_WC_RDMA_WRITE, 7);
  complete(IBV_WC_RECV_RDMA_WITH_IMM, 0, 9);
  ASSERT_EQ(pair_->poll(seen_).value(), 2U);
  EXPECT_EQ(seen_[0].kind, RdmaCompletion::Kind::kWritten);
  EXPECT_EQ(seen_[0].ticket, 7U);
  EXPECT_EQ(seen_[1].kind, RdmaCompletion::Kind::kNoticed);
  EXPECT_EQ(seen_[1].notice, 9U);
}

TEST_F(VerbsCompletionsTest, AMessageFromTheNeighbourEndsTheConnectionAfterWhatCameBefore) {
  complete(IBV_WC_RDMA_WRITE, 7);
  complete(IBV_WC_RECV, 0);
  complete(IBV_WC_RDMA_WRITE, 8);
  ASSERT_EQ(pair_->poll(seen_).value(), 1U);
  EXPECT_EQ(seen_[0].ticket, 7U);
  const absl::Status broken =
      absl::InvalidArgumentError("peer broke the protocol: a send where only RDMA writes are allowed");
  EXPECT_EQ(pair_->poll(seen_).status(), broken);
  EXPECT_EQ(pair_->poll(seen_).status(), broken) << "final";
  EXPECT_EQ(pair_->expect_notices(1), broken);
}

}  // namespace
}  // namespace cableway::host
