#include "core/neighbour_shares.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace cableway {
namespace {

// Takes as many places for `holder` as it may.
std::size_t take_all(std::map<std::string, std::size_t>& taken, const std::string& holder, std::size_t places,
                     const std::set<std::string>& neighbours) {
  std::size_t all = 0;
  for (const auto& [name, number] : taken) all += number;
  const auto taken_by = [&](const std::string& name) {
    const auto found = taken.find(name);
    return found == taken.end() ? 0 : found->second;
  };
  while (may_take(holder, places, all, neighbours, taken_by)) ++taken[holder], ++all;
  return taken_by(holder);
}

TEST(NeighbourSharesTest, AnyOrderLeavesEachNeighbourItsShare) {
  const std::set<std::string> neighbours{"a", "b", "c"};
  for (const std::size_t places : {1U, 5U, 6U, 7U, 60U, 997U}) {
    const std::size_t share = reserved_share(places, neighbours.size());
    for (const std::string first : {"a", "b", "c"}) {
      std::map<std::string, std::size_t> taken;
      EXPECT_EQ(take_all(taken, first, places, neighbours), places - 2 * share) << places;
      for (const std::string& other : neighbours) EXPECT_GE(take_all(taken, other, places, neighbours), share);
    }
  }
}

TEST(NeighbourSharesTest, OtherPeersAreOnePartyWithNoMoreThanAShare) {
  std::map<std::string, std::size_t> taken;
  EXPECT_EQ(take_all(taken, kNoNeighbour, 60, {"a", "b", "c"}), 10U);
  EXPECT_EQ(take_all(taken, "a", 60, {"a", "b", "c"}), 30U);
  EXPECT_EQ(take_all(taken, "gone", 60, {"a", "b", "c"}), 0U) << "a neighbour that is down, while places are scarce";
  taken.clear();
  EXPECT_EQ(take_all(taken, kNoNeighbour, 60, {}), 30U) << "of a node without neighbours";
  taken.clear();
  EXPECT_EQ(take_all(taken, kNoNeighbour, 1, {"a", "b"}), 1U);
}

TEST(NeighbourSharesTest, APlaceIsGivenBackOnce) {
  HeldPlaces held;
  {
    HeldPlaces::Place place = held.take("a");
    const HeldPlaces::Place moved = std::move(place);
    const HeldPlaces::Place other = held.take("b");
    EXPECT_EQ(held.all(), 2U);
    EXPECT_EQ(held.of("a"), 1U);
  }
  EXPECT_EQ(held.all(), 0U);
  EXPECT_EQ(held.of("a"), 0U);
}

}  // namespace
}  // namespace cableway
