#include "sim/stub_rdma/stub_relay_memory.h"

#include <gtest/gtest.h>

#include <set>

namespace cableway::sim {
namespace {

constexpr std::uint32_t kSlot = 4096;

class StubRelayMemoryTest : public ::testing::Test {
 protected:
  static std::uint64_t address(const RegisteredSlot& slot) { return reinterpret_cast<std::uint64_t>(slot.data()); }
  bool may_read(std::size_t device, const RegisteredSlot& slot) {
    return devices_[device]->check_read(slot.data(), kSlot, slot.keys(device).local).ok();
  }
  bool may_write(std::size_t device, const RegisteredSlot& slot) {
    return devices_[device]->check_write(address(slot), kSlot, slot.keys(device).remote).ok();
  }

  StubDevice first_{1};
  StubDevice second_{2};
  const std::vector<StubDevice*> devices_{&first_, &second_};
  StubRelayMemory memory_{devices_, {kSlot, 3, 2}};
};

TEST_F(StubRelayMemoryTest, EveryDeviceReadsAndWritesLeases) {
  EXPECT_EQ(memory_.pool().size(), 3U);
  EXPECT_EQ(memory_.pool().max_per_circuit(), 2U);
  std::set<std::uint64_t> addresses;
  while (Slot* const leased = memory_.pool().lease()) {
    const auto& slot = static_cast<RegisteredSlot&>(*leased);
    EXPECT_EQ(slot.capacity(), kSlot);
    addresses.insert(address(slot));
    for (const std::size_t device : {0U, 1U}) {
      EXPECT_TRUE(may_read(device, slot));
      EXPECT_TRUE(may_write(device, slot));
    }
  }
  ASSERT_EQ(addresses.size(), 3U);
  EXPECT_EQ(*addresses.rbegin() - *addresses.begin(), 2U * kSlot);
}

TEST_F(StubRelayMemoryTest, AFloorIsWrittenByItsUpstreamDeviceOnlyAndReadByBoth) {
  const std::unique_ptr<Slot> made = memory_.make_floor(1, 0);
  const auto& floor = static_cast<const RegisteredSlot&>(*made);
  EXPECT_TRUE(may_write(1, floor));
  EXPECT_TRUE(may_read(0, floor));
  EXPECT_EQ(floor.keys(0).remote, 0U);
  EXPECT_FALSE(may_write(0, floor));
}

TEST_F(StubRelayMemoryTest, AFloorOfOneDeviceIsRegisteredOnce) {
  const std::size_t before = first_.registrations();
  const std::unique_ptr<Slot> made = memory_.make_floor(0, 0);
  const auto& floor = static_cast<const RegisteredSlot&>(*made);
  EXPECT_EQ(first_.registrations(), before + 1);
  EXPECT_TRUE(may_write(0, floor));
  EXPECT_TRUE(may_read(0, floor));
}

TEST_F(StubRelayMemoryTest, AFloorsKeysEndWithIt) {
  std::unique_ptr<Slot> floor = memory_.make_floor(std::nullopt, 1);
  const auto& slot = static_cast<const RegisteredSlot&>(*floor);
  const RdmaKeys keys = slot.keys(1);
  std::byte* const data = slot.data();
  EXPECT_TRUE(second_.check_read(data, kSlot, keys.local).ok());
  EXPECT_EQ(keys.remote, 0U);
  floor.reset();
  EXPECT_FALSE(second_.check_read(data, kSlot, keys.local).ok());
}

}  // namespace
}  // namespace cableway::sim
