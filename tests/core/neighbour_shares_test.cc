#include "core/neighbour_shares.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cableway {
namespace {

class NeighbourSharesTest : public testing::Test {
 protected:
  // Takes as many places for `holder` as it may. Returns how many it has then.
  std::size_t take_all(const ShareHolder& holder, std::size_t places) {
    while (may_take(holder, places, held_.all(), neighbours_, {&held_})) taken_.push_back(held_.take(holder));
    return held_.of(holder);
  }

  HeldPlaces held_;
  std::vector<HeldPlaces::Place> taken_;
  std::set<ShareHolder> neighbours_{{"eth0", "a"}, {"eth1", "b"}, {"eth2", "c"}};
};

TEST_F(NeighbourSharesTest, AnyOrderLeavesEachNeighbourItsShare) {
  for (const std::size_t places : {1U, 5U, 6U, 7U, 60U, 997U}) {
    const std::size_t share = reserved_share(places, neighbours_.size());
    for (const ShareHolder& first : neighbours_) {
      taken_.clear();
      EXPECT_EQ(take_all(first, places), places - 2 * share) << places;
      for (const ShareHolder& other : neighbours_) EXPECT_GE(take_all(other, places), share);
    }
  }
}

TEST_F(NeighbourSharesTest, PortsComeBeforeTheNeighboursThere) {
  constexpr std::size_t kPlaces = 997;
  neighbours_ = {{"eth1", "honest"}};
  for (int i = 0; i < 112; ++i) neighbours_.insert({"eth0", "x" + std::to_string(i)});
  for (const ShareHolder& each : neighbours_) {
    if (each.port == "eth0") take_all(each, kPlaces);
  }
  EXPECT_LE(held_.at("eth0"), 748U);
  EXPECT_EQ(take_all({"eth1", "honest"}, kPlaces), kPlaces - held_.at("eth0"));
  taken_.clear();
  EXPECT_EQ(take_all({"eth0", "x7"}, kPlaces), kPlaces - 249 - 111 * 2) << "nor what is kept for others at its port";
  EXPECT_EQ(take_all({"eth0", "x8"}, kPlaces), 2U);
}

TEST_F(NeighbourSharesTest, APortWithTooManyNeighboursStillHasItsShare) {
  neighbours_ = {{"eth1", "greedy"}};
  for (int i = 0; i < 112; ++i) neighbours_.insert({"eth0", "x" + std::to_string(i)});
  EXPECT_EQ(take_all({"eth1", "greedy"}, 256), 192U);
  EXPECT_EQ(take_all({"eth0", "x0"}, 256), 64U);
}

TEST_F(NeighbourSharesTest, ANameThatIsGoneHasTakenItsPortsPlaces) {
  neighbours_ = {{"eth0", "x0"}, {"eth1", "honest"}};
  EXPECT_EQ(take_all({"eth0", "x0"}, 100), 75U);
  neighbours_ = {{"eth0", "x1"}, {"eth1", "honest"}};
  EXPECT_EQ(take_all({"eth0", "x1"}, 100), 0U);
  EXPECT_EQ(take_all({"eth1", "honest"}, 100), 25U);
}

TEST_F(NeighbourSharesTest, ANodeOverTwoPortsHasBothShares) {
  neighbours_ = {{"eth0", "a"}, {"eth1", "a"}, {"eth2", "b"}};
  EXPECT_EQ(take_all({"eth0", "a"}, 60), 40U);
  EXPECT_EQ(take_all({"eth1", "a"}, 60), 10U);
  EXPECT_EQ(take_all({"eth2", "b"}, 60), 10U);
}

TEST_F(NeighbourSharesTest, OtherPeersAreOnePartyWithNoMoreThanAShare) {
  EXPECT_EQ(take_all(ShareHolder(), 60), 10U);
  EXPECT_EQ(take_all({"eth0", "a"}, 60), 30U);
  EXPECT_EQ(take_all({"eth0", "gone"}, 60), 0U) << "a neighbour that is down, while places are scarce";
  taken_.clear();
  neighbours_.clear();
  EXPECT_EQ(take_all(ShareHolder(), 60), 30U) << "of a node without neighbours";
  taken_.clear();
  neighbours_ = {{"eth0", "a"}, {"eth1", "b"}};
  EXPECT_EQ(take_all(ShareHolder(), 1), 1U);
}

TEST_F(NeighbourSharesTest, APlaceIsGivenBackOnce) {
  const ShareHolder a{"eth0", "a"};
  {
    HeldPlaces::Place place = held_.take(a);
    const HeldPlaces::Place moved = std::move(place);
    const HeldPlaces::Place other = held_.take({"eth0", "b"});
    EXPECT_EQ(held_.all(), 2U);
    EXPECT_EQ(held_.of(a), 1U);
    EXPECT_EQ(held_.at("eth0"), 2U);
  }
  EXPECT_EQ(held_.all(), 0U);
  EXPECT_EQ(held_.of(a), 0U);
  EXPECT_EQ(held_.at("eth0"), 0U);
}

TEST_F(NeighbourSharesTest, TheLargestIsThatOfTheLargestPort) {
  for (int i = 0; i < 3; ++i) taken_.push_back(held_.take({"eth0", "a"}));
  for (const char* name : {"x", "y", "x", "z"}) taken_.push_back(held_.take({"eth1", name}));
  EXPECT_EQ(held_.largest(), (ShareHolder{"eth1", "x"}));
  taken_.push_back(held_.take({"eth0", "b"}));
  taken_.push_back(held_.take({"eth0", "b"}));
  EXPECT_EQ(held_.largest(), (ShareHolder{"eth0", "a"}));
}

}  // namespace
}  // namespace cableway
