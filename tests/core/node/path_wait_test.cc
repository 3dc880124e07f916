#include "core/node/path_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/virtual_clock.h"
#include "tests/core/event/recorded_events.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

class PathWaitTest : public testing::Test {
 protected:
  PathWait::Paths find(const std::string& destination, std::uint64_t ordinal, std::size_t most) {
    const auto hop = reachable_.find(destination);
    if (hop == reachable_.end()) return absl::NotFoundError("no node " + destination);
    std::vector<PathOffer> offers(most, PathOffer{PathKind::kAlternate, false, {hop->second}});
    offers.front().kind = PathKind::kFirst;
    offers.front().hops.resize(ordinal + 1);
    return offers;
  }
  void request(const std::string& destination, std::uint64_t ordinal, std::size_t most = 1, std::uint32_t user = 1) {
    wait_.find(destination, ordinal, most, user, [this, ordinal](const PathWait::Paths& paths) {
      answered_.push_back(ordinal);
      paths_[ordinal] = paths.status();
      if (paths.ok()) offers_[ordinal] = *paths;
    });
  }
  void add(const std::string& node) {
    Hop hop;
    hop.to_node = node;
    reachable_[node] = hop;
    wait_.topology_changed();
  }

  sim::VirtualClock clock_;
  std::map<std::string, Hop> reachable_;
  std::vector<std::uint64_t> answered_;
  std::map<std::uint64_t, absl::Status> paths_;
  std::map<std::uint64_t, std::vector<PathOffer>> offers_;
  test::RecordedEvents events_;
  PathWait wait_{clock_, events_, [this](const std::string& node, std::uint64_t ordinal, std::size_t most) {
                   return find(node, ordinal, most);
                 }};
};

TEST_F(PathWaitTest, AnswersAtOnceIfThereIsAPath) {
  add("n1");
  request("n1", 7);
  EXPECT_THAT(answered_, ElementsAre(7));
  EXPECT_TRUE(paths_[7].ok());
  EXPECT_EQ(wait_.waiting(), 0U);
}

TEST_F(PathWaitTest, AnswersWhenTheTopologyHasThePath) {
  request("n2", 1);
  request("n1", 2);
  clock_.run_for(milliseconds(3000));
  EXPECT_THAT(answered_, ElementsAre());
  add("n1");
  EXPECT_THAT(answered_, ElementsAre(2));
  EXPECT_TRUE(paths_[2].ok());
  EXPECT_EQ(wait_.waiting(), 1U);
}

TEST_F(PathWaitTest, AnswersWithAsManyPathsAsAreRequested) {
  request("n1", 1, 3);
  add("n1");
  request("n1", 2, 4);
  EXPECT_EQ(offers_[1].size(), 3U) << "requested before there was a path";
  EXPECT_EQ(offers_[2].size(), 4U);
  EXPECT_EQ(offers_[2].front().hops.size(), 3U) << "those of this ordinal";
}

TEST_F(PathWaitTest, AnswersWithTheErrorAtEachDeadline) {
  request("n1", 1);
  clock_.run_for(milliseconds(1000));
  request("n2", 2);
  clock_.run_for(PathWait::kLimit - milliseconds(1001));
  EXPECT_THAT(answered_, ElementsAre());
  clock_.run_for(milliseconds(1));
  EXPECT_THAT(answered_, ElementsAre(1));
  EXPECT_EQ(paths_[1], absl::NotFoundError("no node n1"));
  clock_.run_for(milliseconds(1000));
  EXPECT_THAT(answered_, ElementsAre(1, 2));
  clock_.run_for(milliseconds(60000));
  EXPECT_EQ(answered_.size(), 2U) << "each answered once";
}

TEST_F(PathWaitTest, AnAnswerMayRequestAgain) {
  wait_.find("n1", 1, 1, 1, [this](const PathWait::Paths&) { request("n2", 2); });
  add("n2");
  EXPECT_THAT(answered_, ElementsAre());
  add("n1");
  EXPECT_THAT(answered_, ElementsAre(2));
}

TEST_F(PathWaitTest, RefusesARequestBeyondItsLimitAtOnce) {
  for (std::uint64_t i = 0; i < PathWait::kMaxWaiting; ++i) request("n1", i);
  EXPECT_THAT(answered_, ElementsAre());
  request("n1", 9999);
  EXPECT_THAT(answered_, ElementsAre(9999));
  EXPECT_EQ(paths_[9999], absl::ResourceExhaustedError("4096 requests for paths wait here, and user 1 has the most; "
                                                       "last: no node n1"));
  add("n2");
  request("n2", 10000);
  EXPECT_TRUE(paths_[10000].ok()) << "a path that is known needs no room";
}

TEST_F(PathWaitTest, NoUserTakesTheRoomOfOthers) {
  for (std::uint64_t i = 0; i < PathWait::kMaxWaiting; ++i) request("n1", i);
  for (std::uint64_t i = 0; i < 100; ++i) request("n2", 10000 + i, 1, 2);
  EXPECT_EQ(wait_.waiting(), PathWait::kMaxWaiting);
  EXPECT_EQ(answered_.size(), 100U);
  EXPECT_THAT(answered_, testing::Each(testing::Lt(PathWait::kMaxWaiting))) << "requests of the first user";
  EXPECT_THAT(answered_, testing::Contains(PathWait::kMaxWaiting - 1)) << "the newest";
  add("n2");
  EXPECT_TRUE(paths_[10099].ok());
  answered_.clear();
  for (std::uint64_t i = 0; i < 101; ++i) request("n1", 20000 + i);
  EXPECT_THAT(answered_, ElementsAre(20100)) << "there is room again for all but one";
}

TEST_F(PathWaitTest, RaisesEvents) {
  add("n1");
  request("n1", 0);
  request("n2", 8);
  clock_.run_for(PathWait::kLimit);
  EXPECT_THAT(events_.codes(), ElementsAre(EventCode::kPathRequested, EventCode::kPathFound, EventCode::kPathRequested,
                                           EventCode::kPathMissing));
  EXPECT_EQ(events_.raised[1].text, "the path to node n1 has 1 hop");
  EXPECT_EQ(test::field_of(events_.raised[1].fields, "hops"), "1");
  EXPECT_EQ(events_.raised[3].text, "no path to node n2 for a process: no node n2");
  EXPECT_EQ(test::field_of(events_.raised[3].fields, "to"), "n2");
  request("n1", 1, 4);
  EXPECT_EQ(events_.raised.back().text, "the path to node n1 has 2 hops; 3 others");
}

TEST(PathWait, DoesNotAnswerAfterDestruction) {
  sim::VirtualClock clock;
  bool called = false;
  {
    test::RecordedEvents events;
    PathWait wait(clock, events,
                  [](const std::string&, std::uint64_t, std::size_t) { return absl::UnavailableError("none"); });
    wait.find("n1", 0, 1, 1, [&](const PathWait::Paths&) { called = true; });
  }
  clock.run_for(milliseconds(60000));
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace cableway
