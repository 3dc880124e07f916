#include "core/flooding/waiting_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "routing/link_state/advertisement_weight.h"

namespace cableway {
namespace {

using routing::Milliseconds;
using ::testing::ElementsAre;

constexpr std::size_t kPlaces = WaitingRoom::kSpace / routing::kLeastWeight;

WaitingAdvertisement arriving(std::uint64_t origin, PortId port, int at, std::uint64_t sequence = 1) {
  WaitingAdvertisement made;
  made.advertisement.origin.value = origin;
  made.advertisement.version = {1, sequence};
  made.born = made.since = Milliseconds(at);
  made.port = port;
  return made;
}

TEST(WaitingRoom, ACrowdFromOnePortFlushesNothingOfOthers) {
  WaitingRoom room;
  room.put(arriving(1, 7, 0));
  for (std::uint64_t i = 0; i < 3 * kPlaces; ++i) room.put(arriving(1000 + i, 8, 0));
  EXPECT_TRUE(room.holds({1}));
  EXPECT_EQ(room.size(), kPlaces);
  EXPECT_LE(room.weight(), WaitingRoom::kSpace);
  EXPECT_FALSE(room.holds({1000})) << "the oldest goes";
  EXPECT_TRUE(room.holds({1000 + 3 * kPlaces - 1}));
  EXPECT_EQ(room.turned_away().at(8), 2 * kPlaces + 1);
  EXPECT_FALSE(room.turned_away().contains(7));
}

TEST(WaitingRoom, KeepsTheNewestVersionAndTheTimeOfTheFirst) {
  WaitingRoom room;
  room.put(arriving(1, 7, 0, 5));
  room.put(arriving(2, 7, 10));
  room.put(arriving(1, 8, 20, 4));
  room.put(arriving(1, 8, 30, 6));
  std::vector<std::uint64_t> order;
  for (const WaitingAdvertisement* each : room.all()) order.push_back(each->advertisement.origin.value);
  EXPECT_THAT(order, ElementsAre(2, 1));
  const auto taken = room.take({1});
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->advertisement.version.sequence, 6U);
  EXPECT_EQ(taken->since, Milliseconds(0));
  EXPECT_FALSE(room.take({1}).has_value());
  EXPECT_EQ(room.weight(), routing::kLeastWeight);
}

TEST(WaitingRoom, NobodyWaitsForever) {
  WaitingRoom room;
  room.put(arriving(1, 7, 0));
  room.put(arriving(2, 7, 500));
  room.expire(WaitingRoom::kLongest);
  EXPECT_FALSE(room.holds({1}));
  EXPECT_TRUE(room.holds({2}));
  EXPECT_EQ(room.turned_away().at(7), 1U);
}

}  // namespace
}  // namespace cableway
