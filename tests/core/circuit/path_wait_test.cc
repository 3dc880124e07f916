#include "core/circuit/path_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/virtual_clock.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

class PathWaitTest : public testing::Test {
 protected:
  PathWait::Path find(const std::string& destination, std::uint64_t ordinal) {
    requested_.push_back(ordinal);
    const auto hop = reachable_.find(destination);
    if (hop == reachable_.end()) return absl::NotFoundError("no node " + destination);
    return std::vector<Hop>{hop->second};
  }
  void request(const std::string& destination, std::uint64_t ordinal) {
    wait_.find(destination, ordinal, [this, ordinal](const PathWait::Path& path) {
      answered_.push_back(ordinal);
      paths_[ordinal] = path.status();
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
  std::vector<std::uint64_t> requested_;
  std::vector<std::uint64_t> answered_;
  std::map<std::uint64_t, absl::Status> paths_;
  PathWait wait_{clock_, [this](const std::string& node, std::uint64_t ordinal) { return find(node, ordinal); }};
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
  wait_.find("n1", 1, [this](const PathWait::Path&) { request("n2", 2); });
  add("n2");
  EXPECT_THAT(answered_, ElementsAre());
  add("n1");
  EXPECT_THAT(answered_, ElementsAre(2));
}

TEST(PathWait, DoesNotAnswerAfterDestruction) {
  sim::VirtualClock clock;
  bool called = false;
  {
    PathWait wait(clock, [](const std::string&, std::uint64_t) { return absl::UnavailableError("none"); });
    wait.find("n1", 0, [&](const PathWait::Path&) { called = true; });
  }
  clock.run_for(milliseconds(60000));
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace cableway
