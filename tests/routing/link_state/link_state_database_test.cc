#include "routing/link_state/link_state_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace cableway::routing {
namespace {

using Verdict = LinkStateDatabase::Verdict;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr NodeId kNode{7};
constexpr NodeId kOther{9};

Advertisement advertisement(NodeId origin, AdvertisementVersion version, const std::string& name = "n0") {
  Advertisement made;
  made.origin = origin;
  made.version = version;
  made.name = name;
  return made;
}

TEST(LinkStateDatabase, KeepsTheNewestByIncarnationThenSequence) {
  LinkStateDatabase database;
  const Milliseconds now(1000);
  EXPECT_EQ(database.offer(advertisement(kNode, {5, 8}, "first"), Milliseconds(0), now), Verdict::kNewer);
  EXPECT_EQ(database.offer(advertisement(kNode, {5, 7}, "older"), Milliseconds(0), now), Verdict::kStale);
  EXPECT_EQ(database.offer(advertisement(kNode, {4, 99}, "an earlier incarnation"), Milliseconds(0), now),
            Verdict::kStale);
  EXPECT_EQ(database.find(kNode)->name, "first");
  EXPECT_EQ(database.offer(advertisement(kNode, {5, 9}, "newer"), Milliseconds(0), now), Verdict::kNewer);
  EXPECT_EQ(database.find(kNode)->name, "newer");
  EXPECT_EQ(database.offer(advertisement(kNode, {6, 1}, "a later incarnation"), Milliseconds(0), now), Verdict::kNewer);
  EXPECT_EQ(database.find(kNode)->name, "a later incarnation");
  EXPECT_EQ(database.size(), 1U);
  EXPECT_EQ(database.find(kOther), nullptr);
}

TEST(LinkStateDatabase, DuplicatesDoNotResetTheAge) {
  LinkStateDatabase database;
  database.offer(advertisement(kNode, {1, 1}), Milliseconds(50), Milliseconds(1000));
  EXPECT_EQ(database.offer(advertisement(kNode, {1, 1}), Milliseconds(0), Milliseconds(2000)), Verdict::kDuplicate);
  EXPECT_EQ(database.age(kNode, Milliseconds(2000)), Milliseconds(1050));
}

// An origin never makes two; a node that forges one makes the databases differ unless all choose alike.
TEST(LinkStateDatabase, OfTwoWithOneVersionTheGreaterStays) {
  for (const bool greater_first : {false, true}) {
    LinkStateDatabase database;
    const char* const first = greater_first ? "n1" : "n0";
    const char* const second = greater_first ? "n0" : "n1";
    database.offer(advertisement(kNode, {1, 1}, first), Milliseconds(0), Milliseconds(0));
    EXPECT_EQ(database.offer(advertisement(kNode, {1, 1}, second), Milliseconds(0), Milliseconds(0)),
              greater_first ? Verdict::kStale : Verdict::kNewer);
    EXPECT_EQ(database.find(kNode)->name, "n1");
  }
}

// The age is counted on every node that holds an entry, and while it is forwarded.
TEST(LinkStateDatabase, ExpiresEntriesAtTheMaximumAge) {
  LinkStateDatabase database;
  EXPECT_EQ(database.next_expiry(), std::nullopt);
  EXPECT_EQ(database.offer(advertisement(kNode, {1, 1}), kMaxAge, Milliseconds(0)), Verdict::kTooOld);
  EXPECT_EQ(database.size(), 0U);

  database.offer(advertisement(kNode, {1, 1}), kMaxAge - Milliseconds(10), Milliseconds(500));
  database.offer(advertisement(kOther, {1, 1}), Milliseconds(0), Milliseconds(500));
  EXPECT_EQ(database.next_expiry(), Milliseconds(510));
  EXPECT_THAT(database.expire(Milliseconds(509), NodeId{}), IsEmpty());
  EXPECT_THAT(database.expire(Milliseconds(510), NodeId{}), ElementsAre(kNode));
  EXPECT_EQ(database.find(kNode), nullptr);
  EXPECT_NE(database.find(kOther), nullptr);
  EXPECT_EQ(database.age(kNode, Milliseconds(510)), kMaxAge);
}

TEST(LinkStateDatabase, RenewalResetsTheAge) {
  LinkStateDatabase database;
  database.offer(advertisement(kNode, {1, 1}), Milliseconds(0), Milliseconds(0));
  database.offer(advertisement(kNode, {1, 2}), Milliseconds(20), kRenewAfter);
  EXPECT_EQ(database.age(kNode, kRenewAfter), Milliseconds(20));
  EXPECT_THAT(database.expire(kMaxAge, NodeId{}), IsEmpty());
  EXPECT_EQ(database.next_expiry(), kRenewAfter - Milliseconds(20) + kMaxAge);
}

TEST(LinkStateDatabase, NeverExpiresTheCallersOwnEntry) {
  LinkStateDatabase database;
  database.offer(advertisement(kNode, {1, 1}), Milliseconds(0), Milliseconds(0));
  EXPECT_THAT(database.expire(10 * kMaxAge, kNode), IsEmpty());
  EXPECT_NE(database.find(kNode), nullptr);
}

TEST(LinkStateDatabase, BoundsTheNumberOfOrigins) {
  LinkStateDatabase database;
  for (std::uint64_t origin = 1; origin <= kMaxNodes; ++origin) {
    ASSERT_EQ(database.offer(advertisement({origin}, {1, 1}), Milliseconds(0), Milliseconds(0)), Verdict::kNewer);
  }
  EXPECT_EQ(database.offer(advertisement({kMaxNodes + 1}, {1, 1}), Milliseconds(0), Milliseconds(0)), Verdict::kFull);
  EXPECT_EQ(database.offer(advertisement({1}, {1, 2}), Milliseconds(0), Milliseconds(0)), Verdict::kNewer)
      << "whom it knows it goes on hearing";
  EXPECT_EQ(database.size(), kMaxNodes);
}

TEST(LinkStateDatabase, EqualityIgnoresAges) {
  LinkStateDatabase left;
  LinkStateDatabase right;
  left.offer(advertisement(kNode, {1, 1}), Milliseconds(0), Milliseconds(0));
  right.offer(advertisement(kNode, {1, 1}), Milliseconds(70), Milliseconds(9000));
  EXPECT_TRUE(left == right);
  right.offer(advertisement(kNode, {1, 2}), Milliseconds(0), Milliseconds(9000));
  EXPECT_FALSE(left == right);
  left.offer(advertisement(kNode, {1, 2}), Milliseconds(0), Milliseconds(0));
  left.offer(advertisement(kOther, {1, 1}), Milliseconds(0), Milliseconds(0));
  EXPECT_FALSE(left == right);
}

}  // namespace
}  // namespace cableway::routing
