#include "core/linux/relay_memory.h"

#include <gtest/gtest.h>

namespace cableway::linux_ {
namespace {

TEST(RelayMemory, IsHalfForFloorsAndHalfForLeases) {
  for (const std::uint64_t bytes : {1ULL << 21, 100'000'000ULL, 1ULL << 30, 7ULL << 30}) {
    const RelayMemory memory = share_out_relay_memory(bytes);
    EXPECT_EQ(memory.bytes, bytes);
    EXPECT_LE(memory.most_circuits * floor_memory(), bytes / 2);
    EXPECT_GT((memory.most_circuits + 1) * floor_memory(), bytes / 2);
    EXPECT_LE(memory.leases * lease_memory(), bytes / 2);
    EXPECT_GT((memory.leases + 1) * lease_memory(), bytes / 2);
  }
}

TEST(RelayMemory, HasRoomForOneCircuitHoweverLittleItIs) {
  const RelayMemory memory = share_out_relay_memory(1);
  EXPECT_EQ(memory.most_circuits, 1U);
  EXPECT_EQ(memory.leases, 0U);
}

TEST(RelayMemory, LendsNoMoreThanThereAreDescriptorsFor) {
  EXPECT_EQ(share_out_relay_memory(1ULL << 40).leases, 1024U);
}

// As the documentation says (docs/decisions/0007).
TEST(RelayMemory, CostsWhatIsStated) {
  EXPECT_EQ(floor_memory(), 928U << 10);
  EXPECT_EQ(lease_memory(), 4416U << 10);
  const RelayMemory memory = share_out_relay_memory(1ULL << 30);
  EXPECT_EQ(memory.most_circuits, 564U);
  EXPECT_EQ(memory.leases, 118U);
}

}  // namespace
}  // namespace cableway::linux_
