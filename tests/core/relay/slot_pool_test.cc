#include "core/relay/slot_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "sim/cable/memory_chunk_link.h"

namespace cableway {
namespace {

TEST(SlotPool, LeasesEachSlotToOneAtATime) {
  SlotPool pool(sim::make_memory_slots(3, 128), 1);
  std::set<Slot*> leased;
  for (int i = 0; i < 3; ++i) leased.insert(pool.lease());
  EXPECT_EQ(leased.size(), 3U);
  EXPECT_FALSE(leased.contains(nullptr));
  EXPECT_EQ(pool.lease(), nullptr);
  Slot* const one = *leased.begin();
  pool.give_back(*one);
  EXPECT_EQ(pool.lease(), one);
  EXPECT_EQ(pool.lease(), nullptr);
}

TEST(SlotPool, CountsLeasesAndTheirMaximum) {
  SlotPool pool(sim::make_memory_slots(3, 128), 1);
  EXPECT_EQ(pool.size(), 3U);
  Slot* const first = pool.lease();
  Slot* const second = pool.lease();
  EXPECT_EQ(pool.leased(), 2U);
  pool.give_back(*first);
  EXPECT_EQ(pool.leased(), 1U);
  EXPECT_EQ(pool.max_leased(), 2U);
  pool.give_back(*second);
  EXPECT_EQ(pool.leased(), 0U);
  EXPECT_EQ(pool.max_leased(), 2U);
}

TEST(SlotPool, TracksWaitingCircuits) {
  SlotPool pool({}, 1);
  EXPECT_EQ(pool.lease(), nullptr);
  EXPECT_FALSE(pool.wanted());
  pool.begin_waiting();
  pool.begin_waiting();
  pool.end_waiting();
  EXPECT_TRUE(pool.wanted());
  pool.end_waiting();
  EXPECT_FALSE(pool.wanted());
  EXPECT_EQ(pool.waits(), 2U);
}

TEST(SlotPool, ClearsReturnedSlots) {
  SlotPool pool(sim::make_memory_slots(1, 128), 1);
  Slot* const slot = pool.lease();
  slot->filled = 128;
  slot->drained = 5;
  pool.give_back(*slot);
  EXPECT_EQ(pool.lease()->filled, 0U);
  EXPECT_EQ(slot->drained, 0U);
}

}  // namespace
}  // namespace cableway
