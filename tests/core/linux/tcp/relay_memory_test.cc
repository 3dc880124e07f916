#include "core/linux/tcp/relay_memory.h"

#include <gtest/gtest.h>

namespace cableway::host {
namespace {

constexpr std::size_t kMaxLeases = 128;

TEST(RelayMemory, GoesToLeasesUpToHalfAndTheRestToFloors) {
  for (const std::uint64_t bytes : {1ULL << 22, 100'000'000ULL, 1ULL << 30, 7ULL << 30}) {
    const RelayMemory memory = share_out_relay_memory(bytes);
    EXPECT_EQ(memory.bytes, bytes);
    EXPECT_LE(memory.leases * lease_memory(), bytes / 2);
    if (memory.leases < kMaxLeases) {
      EXPECT_GT((memory.leases + 1) * lease_memory(), bytes / 2);
    }
    const std::uint64_t floors = bytes - memory.leases * lease_memory();
    EXPECT_LE(memory.max_circuits * floor_memory(), floors);
    EXPECT_GT((memory.max_circuits + 1) * floor_memory(), floors);
  }
}

TEST(RelayMemory, HasRoomForAtLeastOneCircuit) {
  const RelayMemory memory = share_out_relay_memory(1);
  EXPECT_EQ(memory.max_circuits, 1U);
  EXPECT_EQ(memory.leases, 0U);
}

TEST(RelayMemory, HasNoMoreLeasesThanPipesAllow) {
  EXPECT_EQ(share_out_relay_memory(1ULL << 40).leases, kMaxLeases);
}

// As documented in docs/decisions/0007.
TEST(RelayMemory, MatchesTheDocumentedCosts) {
  EXPECT_EQ(floor_memory(), 1536U << 10);
  EXPECT_EQ(lease_memory(), 4416U << 10);
  const RelayMemory memory = share_out_relay_memory(1ULL << 31);
  EXPECT_EQ(memory.max_circuits, 997U);
  EXPECT_EQ(memory.leases, 128U);
}

}  // namespace
}  // namespace cableway::host
