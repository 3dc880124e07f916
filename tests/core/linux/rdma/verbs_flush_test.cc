#include "core/linux/rdma/verbs_flush.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class VerbsFlushTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<VerbsFlush>> make() {
    return VerbsFlush::create(device_, fake_.gid, 0xabcdef, VerbsOptions());
  }
  std::unique_ptr<VerbsMemory> add(VerbsRights rights) {
    return VerbsMemory::add(device_, memory_.data(), memory_.size(), rights).value();
  }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.data()); }

  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& fake_ = verbs_.add("mlx5_0", VerbsGid{3, {std::byte{0xfe}, std::byte{0x80}}});
  std::shared_ptr<VerbsDevice> device_ = verbs_.open(fake_);
  std::array<std::byte, 256> memory_{};
};

TEST_F(VerbsFlushTest, AReadIsDoneWhenTheDeviceReportsItAndNoSooner) {
  const auto memory = add({.remote_write = true, .remote_read = true});
  const auto flush = make().value();
  EXPECT_THAT(fake_.packet_sequences, ElementsAre(0xabcdefU));
  fake_.holds_completions = true;
  EXPECT_EQ(flush->next(), 0U);
  EXPECT_EQ(flush->read(address(), memory->keys().remote).value(), 0U);
  EXPECT_EQ(flush->read(address() + memory_.size() - 1, memory->keys().remote).value(), 1U);
  EXPECT_EQ(fake_.reads, 2U);
  EXPECT_FALSE(flush->done(0).value());
  fake_.holds_completions = false;
  EXPECT_TRUE(flush->done(1).value());
  EXPECT_TRUE(flush->done(0).value());
}

TEST_F(VerbsFlushTest, ALostDeviceFailsTheReadsThatAreNotDone) {
  const auto memory = add({.remote_write = true, .remote_read = true});
  const auto flush = make().value();
  ASSERT_EQ(flush->read(address(), memory->keys().remote).value(), 0U);
  ASSERT_TRUE(flush->done(0).value());
  fake_.holds_completions = true;
  ASSERT_EQ(flush->read(address(), memory->keys().remote).value(), 1U);
  device_->give_up();
  EXPECT_TRUE(flush->done(0).value());
  const absl::Status failed = flush->done(1).status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(failed.message(), HasSubstr("RDMA device mlx5_0 failed before it read back what it wrote to GPU memory"));
}

TEST_F(VerbsFlushTest, AForbiddenReadFailsAndEarlierReadsStayDone) {
  const auto readable = add({.remote_write = true, .remote_read = true});
  const auto writable = add({.remote_write = true});
  const auto flush = make().value();
  const std::uint64_t good = flush->read(address(), readable->keys().remote).value();
  const std::uint64_t bad = flush->read(address(), writable->keys().remote).value();
  EXPECT_THAT(flush->done(bad).status().message(),
              HasSubstr("RDMA device mlx5_0 cannot read back what was written to GPU memory (remote access error)"));
  EXPECT_TRUE(flush->done(good).value());
  EXPECT_FALSE(flush->read(address(), readable->keys().remote).ok());
}

TEST_F(VerbsFlushTest, AByteOutsideIsNotRead) {
  const auto memory = add({.remote_write = true, .remote_read = true});
  const auto flush = make().value();
  const std::uint64_t read = flush->read(address() + memory_.size(), memory->keys().remote).value();
  EXPECT_FALSE(flush->done(read).ok());
}

TEST_F(VerbsFlushTest, AcceptsTheLimitOfReadsAndMoreWhenTheyComplete) {
  const auto memory = add({.remote_write = true, .remote_read = true});
  const auto flush = make().value();
  fake_.holds_completions = true;
  for (std::uint32_t i = 0; i < VerbsFlush::kMaxReads; ++i) {
    ASSERT_TRUE(flush->read(address(), memory->keys().remote).ok());
  }
  EXPECT_EQ(flush->read(address(), memory->keys().remote).status().code(), absl::StatusCode::kResourceExhausted);
  fake_.holds_completions = false;
  EXPECT_TRUE(flush->done(VerbsFlush::kMaxReads - 1).value());
  for (std::uint32_t i = 0; i < 2 * VerbsFlush::kMaxReads; ++i) {
    ASSERT_TRUE(flush->read(address(), memory->keys().remote).ok());
  }
}

TEST_F(VerbsFlushTest, ARefusedRequestIsFinal) {
  const auto memory = add({.remote_write = true, .remote_read = true});
  const auto flush = make().value();
  fake_.posting_error = ENOMEM;
  const absl::Status refused = flush->read(address(), memory->keys().remote).status();
  EXPECT_THAT(refused.message(), HasSubstr("mlx5_0 cannot accept a read of GPU memory: Cannot allocate memory"));
  fake_.posting_error = 0;
  EXPECT_EQ(flush->read(address(), memory->keys().remote).status(), refused);
}

TEST_F(VerbsFlushTest, AnExhaustedDeviceNamesItsLimits) {
  fake_.queue_pair_error = ENOMEM;
  const absl::Status refused = make().status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("mlx5_0 cannot create a queue pair of 32 reads: Cannot allocate memory"));
  EXPECT_THAT(refused.message(), HasSubstr("the device supports 1000 registrations, 100 queue pairs"));
}

TEST_F(VerbsFlushTest, NamesInvalidOptions) {
  EXPECT_THAT(VerbsFlush::create(device_, fake_.gid, 1, VerbsOptions{.timeout = 0}).status().message(),
              HasSubstr("RDMA timeout is 0; expected 1 to 31"));
}

TEST_F(VerbsFlushTest, NothingOfItStaysRegistered) {
  make().value().reset();
  ASSERT_EQ(fake_.registrations.size(), 1U);
  EXPECT_FALSE(fake_.registrations[0].is_live);
  EXPECT_EQ(fake_.registrations[0].access, static_cast<unsigned>(IBV_ACCESS_LOCAL_WRITE));
}

}  // namespace
}  // namespace cableway::host
