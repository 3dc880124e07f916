// `cableway topology` of a fake node whose topology has gone cables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/cableway/command_run.h"

namespace cableway::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Of two cables that are gone, one has come back since, and of a third a node has left.
constexpr char kGone[] = R"({"schema": 1, "gone": [
  {"name": "n0.eth2-n2.eth1", "rate_mbps": 10000, "since": "2026-03-01T12:34:56.789Z",
   "ends": [{"node": "n0", "interface": "eth2", "address": "10.7.9.1", "plug": ""},
            {"node": "n2", "interface": "", "address": "10.7.9.2", "plug": ""}]},
  {"name": "c0", "rate_mbps": 10000, "since": "2026-03-01T12:34:57.000Z",
   "ends": [{"node": "n0", "interface": "eth3", "address": "10.7.8.1", "plug": ""},
            {"node": "n1", "interface": "eth3", "address": "10.7.8.2", "plug": ""}]},
  {"name": "n2.eth5-n9.eth0", "rate_mbps": 25000, "since": "2026-03-01T12:34:58.000Z",
   "ends": [{"node": "n2", "interface": "eth5", "address": "10.7.7.1", "plug": ""},
            {"node": "n9", "interface": "eth0", "address": "10.7.7.2", "plug": ""}]}]})";

class GoneCablesTest : public ::testing::Test {
 protected:
  // Of a node with a line of three nodes, which answers the view `gone` so.
  Outcome shown(const ViewReply& gone, const std::vector<std::string>& words) {
    const std::string topology = run_command({"topology", "--file", "line:3", "--json"}).out;
    const FakeNode node([&](const std::string& view) { return view == "gone" ? gone : ViewReply{"", topology}; });
    std::vector<std::string> command = {"topology"};
    command.insert(command.end(), words.begin(), words.end());
    return run_command(command);
  }
};

TEST_F(GoneCablesTest, AreListedBelowTheTable) {
  const Outcome text = shown({"", kGone}, {});
  EXPECT_EQ(text.exit_status, 0) << text.err;
  const std::string gone = text.out.substr(std::min(text.out.size(), text.out.find("gone cable")));
  EXPECT_THAT(gone, HasSubstr("n0-n2       n0    eth2       n2  -           10000  2026-03-01 "));
  EXPECT_THAT(gone, HasSubstr("n2-n9       n2    eth5       n9  eth0        25000  2026-03-01 "));
  EXPECT_THAT(gone, Not(HasSubstr("c0")));
}

TEST_F(GoneCablesTest, HaveShortNamesBesideNoCableOfTheSameNodes) {
  constexpr char kAlone[] = R"({"schema": 1, "gone": [
    {"name": "n0.eth8-n2.eth9", "rate_mbps": 10000, "since": "2026-03-01T12:34:56.789Z",
     "ends": [{"node": "n0", "interface": "eth8", "address": "10.7.9.1", "plug": ""},
              {"node": "n2", "interface": "eth9", "address": "10.7.9.2", "plug": ""}]}]})";
  EXPECT_THAT(shown({"", kAlone}, {}).out, HasSubstr("\nn0-n2       n0    eth8       n2  eth9        10000  "));
  constexpr char kTwin[] = R"({"schema": 1, "gone": [
    {"name": "n0.eth8-n1.eth9", "rate_mbps": 10000, "since": "2026-03-01T12:34:56.789Z",
     "ends": [{"node": "n0", "interface": "eth8", "address": "10.7.9.1", "plug": ""},
              {"node": "n1", "interface": "eth9", "address": "10.7.9.2", "plug": ""}]}]})";
  EXPECT_THAT(shown({"", kTwin}, {}).out, HasSubstr("n0.eth8-n1.eth9  n0    eth8       n1  eth9        10000  "));
}

TEST_F(GoneCablesTest, AreAMemberOfTheJson) {
  const nlohmann::json gone = nlohmann::json::parse(shown({"", kGone}, {"--json"}).out)["gone"];
  ASSERT_EQ(gone.size(), 2U);
  EXPECT_EQ(gone[0], nlohmann::json::parse(kGone)["gone"][0]);
  EXPECT_TRUE(nlohmann::json::parse(run_command({"topology", "--file", "line:3", "--json"}).out)["gone"].is_null());
}

TEST_F(GoneCablesTest, AreDashedInThePicture) {
  const std::string svg = shown({"", kGone}, {"--svg"}).out;
  EXPECT_THAT(svg, HasSubstr("<path class=\"cable missing\""));
  EXPECT_THAT(svg, HasSubstr("n0.eth2-n2.eth1: n0 eth2 10.7.9.1 - n2 10.7.9.2, gone since 2026-03-01 "));
  EXPECT_THAT(svg, HasSubstr("dashed cables: gone (1)"));
  EXPECT_THAT(svg, HasSubstr("3 nodes, 2 cables"));
  EXPECT_THAT(svg, Not(HasSubstr("n9")));
  const std::string without = shown({"", R"({"schema": 1, "gone": []})"}, {"--svg"}).out;
  EXPECT_THAT(without, Not(HasSubstr("gone")));
  EXPECT_THAT(without, Not(HasSubstr("class=\"cable missing\"")));
}

// A node of an earlier version has no such view; what another one shows may not be understood.
TEST_F(GoneCablesTest, ANodeThatDoesNotTellHasNone) {
  for (const ViewReply& gone :
       {ViewReply{"no view \"gone\"", ""}, ViewReply{"", "{}"}, ViewReply{"", R"({"gone": [{"name": 5}]})"}}) {
    const Outcome text = shown(gone, {});
    EXPECT_EQ(text.exit_status, 0);
    EXPECT_THAT(text.out, Not(HasSubstr("gone")));
    EXPECT_TRUE(nlohmann::json::parse(shown(gone, {"--json"}).out)["gone"].is_null());
  }
}

}  // namespace
}  // namespace cableway::cli
