// Needs an RDMA device, such as that of a soft-RoCE guest (rxe can read its own memory); skipped if there is none. What
// is read here is host memory, which uses the same code as GPU memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "core/linux/rdma/verbs_flush.h"
#include "tests/core/linux/allocation_counter.h"
#include "tests/core/linux/rdma/verbs_pair.h"

namespace cableway::host {
namespace {

using testing::HasSubstr;

constexpr std::size_t kBytes = 4096;

class VerbsFlushOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<test::UsableDevice> usable = test::usable_device();
    if (!usable.ok()) GTEST_SKIP() << usable.status().message();
    usable_ = *std::move(usable);
    pages_ = MappedPages::create(kBytes).value();
  }

  std::unique_ptr<VerbsFlush> make() const {
    return VerbsFlush::create(usable_.device, usable_.gid, 0x654321, {}).value();
  }
  std::unique_ptr<VerbsMemory> add(VerbsRights rights) const {
    return VerbsMemory::add(usable_.device, pages_.bytes().data(), kBytes, rights).value();
  }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(pages_.bytes().data()); }

  // Waits for 20 s at most.
  static absl::Status finish(VerbsFlush& flush, std::uint64_t read) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < until) {
      const absl::StatusOr<bool> done = flush.done(read);
      if (!done.ok()) return done.status();
      if (*done) return absl::OkStatus();
    }
    return absl::DeadlineExceededError("nothing has completed for 20 s");
  }

  test::UsableDevice usable_;
  MappedPages pages_;
};

TEST_F(VerbsFlushOnDevice, ReadsWithoutAllocating) {
  const auto memory = add({.remote_write = true, .remote_read = true});
  const auto flush = make();
  const absl::Status first = finish(*flush, flush->read(address(), memory->keys().remote).value());
  ASSERT_TRUE(first.ok()) << first;
  const std::uint64_t before = test::allocations();
  for (int round = 0; round < 10; ++round) {
    std::uint64_t last = 0;
    for (std::uint32_t i = 0; i < VerbsFlush::kMaxReads; ++i) {
      last = flush->read(address() + i, memory->keys().remote).value();
    }
    ASSERT_TRUE(finish(*flush, last).ok());
  }
  EXPECT_EQ(test::allocations(), before);
}

TEST_F(VerbsFlushOnDevice, MemoryWithoutReadAccessIsNotRead) {
  const auto memory = add({.remote_write = true});
  const auto flush = make();
  const absl::Status refused = finish(*flush, flush->read(address(), memory->keys().remote).value());
  EXPECT_THAT(refused.message(), HasSubstr("cannot read back what was written to GPU memory"));
}

}  // namespace
}  // namespace cableway::host
