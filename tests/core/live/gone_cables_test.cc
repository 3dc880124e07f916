#include "core/live/gone_cables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using routing::Topology;
using testing::ElementsAre;
using testing::IsEmpty;

// Of two nodes, with these cables.
Topology with(const std::vector<std::string>& names) {
  std::vector<routing::Cable> cables;
  for (const std::string& name : names) {
    cables.push_back(
        {.name = name,
         .a = {.node = {0}, .interface = absl::StrCat("a", name), .address = absl::StrCat("fd00::1:", name)},
         .b = {.node = {1}, .interface = absl::StrCat("b", name), .address = absl::StrCat("fd00::2:", name)}});
  }
  absl::StatusOr<Topology> topology = Topology::create("c", {{.name = "n0"}, {.name = "n1"}}, std::move(cables));
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *std::move(topology);
}

class GoneCablesTest : public ::testing::Test {
 protected:
  void learn(const Topology& topology) { gone_.learn(topology, now_, WallTime(std::chrono::seconds(time_))); }
  void learn(const std::vector<std::string>& names) { learn(with(names)); }

  std::vector<std::string> gone() const {
    std::vector<std::string> names;
    for (const GoneCable& each : gone_.list(now_)) names.push_back(each.cable.name);
    return names;
  }

  GoneCables gone_;
  Instant now_;
  int time_ = 5;
};

TEST_F(GoneCablesTest, ACableIsGoneFromWhenItWentUntilItReturns) {
  learn({"1", "2"});
  EXPECT_THAT(gone(), IsEmpty());
  learn({"2"});
  ASSERT_THAT(gone(), ElementsAre("1"));
  const GoneCable first = gone_.list(now_).front();
  EXPECT_EQ(first.node_a, "n0");
  EXPECT_EQ(first.node_b, "n1");
  EXPECT_EQ(first.cable.a.interface, "a1");
  EXPECT_EQ(first.gone_since, WallTime(5s));
  time_ = 6;
  learn({"2"});
  EXPECT_EQ(gone_.list(now_).front().gone_since, WallTime(5s));
  learn({"1", "2"});
  EXPECT_THAT(gone(), IsEmpty());
  learn({"2"});
  EXPECT_EQ(gone_.list(now_).front().gone_since, WallTime(6s));
}

TEST_F(GoneCablesTest, AreListedInTheOrderInWhichTheyWent) {
  learn({"1", "2", "3"});
  learn({"1", "3"});
  now_ = now_ + 1s;
  learn({"3"});
  EXPECT_THAT(gone(), ElementsAre("2", "1"));
}

TEST_F(GoneCablesTest, AreForgottenAfterADayAlsoWhereNothingChanges) {
  learn({"1"});
  learn(std::vector<std::string>{});
  now_ = now_ + (GoneCables::kKept - 1ns);
  EXPECT_THAT(gone(), ElementsAre("1"));
  now_ = now_ + 1ns;
  EXPECT_THAT(gone(), IsEmpty());
  learn(std::vector<std::string>{});
  now_ = {};
  EXPECT_THAT(gone(), IsEmpty()) << "not only left out, but forgotten";
}

TEST_F(GoneCablesTest, TheOnesThatWentFirstAreForgottenBeyondTheBound) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < GoneCables::kMost + 2; ++i) names.push_back(std::to_string(i));
  learn(names);
  while (!names.empty()) {
    names.erase(names.begin());
    now_ = now_ + 1s;
    learn(names);
  }
  const std::vector<std::string> left = gone();
  ASSERT_EQ(left.size(), GoneCables::kMost);
  EXPECT_EQ(left.front(), "2");
}

// A topology of that size has no map, and would take memory.
TEST_F(GoneCablesTest, NothingIsLearnedFromATopologyThatIsTooLarge) {
  std::vector<std::string> names;
  for (int i = 0; i < 1025; ++i) names.push_back(std::to_string(i));
  learn(names);
  learn({"1"});
  EXPECT_THAT(gone(), IsEmpty());
}

}  // namespace
}  // namespace cableway
