#include "sim/workload/mix_file.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/workload/mix_text.h"

namespace cableway::workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kThreeWays[] = R"(# tensor parallel inside pairs, then data parallel across them
[[group]]
name = "tp0"
ranks = [0, 1]
workload = "all_reduce:4MiB"
repeat = 64

[[group]]
name = "tp1"
ranks = [2, 3]
workload = "all_reduce:4MiB"
repeat = 64

[[group]]
ranks = [0, 2]
workload = "all_reduce:25MB,tree"
after = ["tp1", "tp0"]

[[group]]
name = "pp"
ranks = [3, 1, 0]
workload = "pipeline:16MiB,8"
)";

Mix good_mix(const std::string& text) {
  const absl::StatusOr<Mix> mix = parse_mix(text, "mix.toml");
  EXPECT_TRUE(mix.ok()) << mix.status();
  return mix.ok() ? *mix : Mix{};
}

void expect_refused(const std::string& text, const std::string& where, const std::string& what,
                    const std::string& expected) {
  const absl::StatusOr<Mix> mix = parse_mix(text, "mix.toml");
  ASSERT_FALSE(mix.ok()) << text;
  EXPECT_EQ(mix.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(mix.status().message());
  EXPECT_THAT(message, StartsWith("mix.toml:" + where + ": ")) << text;
  EXPECT_THAT(message, HasSubstr(what));
  EXPECT_THAT(message, HasSubstr("; expected " + expected));
}

TEST(MixFileTest, ReadsGroupsInTheirOrder) {
  const Mix mix = good_mix(kThreeWays);
  ASSERT_EQ(mix.groups.size(), 4U);
  EXPECT_EQ(mix.groups[0], (MixGroup{"tp0", {0, 1}, {{Operation::kAllReduceRing}, 4U << 20}, 64, {}}));
  EXPECT_EQ(mix.groups[2], (MixGroup{"group3", {0, 2}, {{Operation::kAllReduceTree}, 25'000'000}, 1, {0, 1}}));
  EXPECT_THAT(mix.groups[3].ranks, ElementsAre(3, 1, 0));
  EXPECT_EQ(mix.groups[3].workload.workload.micro_batches, 8);
  EXPECT_EQ(ranks_needed(mix), 4);
}

TEST(MixFileTest, RoundTrips) {
  const Mix mix = good_mix(kThreeWays);
  EXPECT_EQ(good_mix(test::to_mix_file(mix)), mix);
}

TEST(MixFileTest, TheMaximumNumberOfRanksRoundTrips) {
  Mix mix{{{"all", {}, {{Operation::kAllToAll}, 1}, 1, {}}}};
  for (int rank = kMaxRanks - 1; rank >= 0; --rank) mix.groups[0].ranks.push_back(rank);
  EXPECT_EQ(good_mix(test::to_mix_file(mix)), mix);
}

TEST(MixFileTest, ReportsTheLineAndWhatWasExpected) {
  const std::string group = "[[group]]\nranks = [0, 1]\n";
  const std::string whole = group + "workload = \"reduce:8\"\n";
  expect_refused("", "1", "the file has no group", "one [[group]]");
  expect_refused("group = []\n", "1", "an empty list", "one [[group]]");
  expect_refused("group = 3\n", "1", "group is not a list", "one [[group]]");
  expect_refused("group = [3]\n", "1", "an element that is not a table", "one [[group]]");
  expect_refused("[[groop]]\n", "1", "unknown key \"groop\"", "one of group");
  expect_refused("[[group]\n", "1", "syntax error", "TOML with [[group]] tables");
  expect_refused(whole + "color = 1\n", "4", "unknown key \"color\" in [[group]]", "one of name, ranks");
  expect_refused("[[group]]\nworkload = \"reduce:8\"\n", "1", "a group has no ranks", "ranks = [0, 1, ..]");
  expect_refused("[[group]]\nranks = 2\n", "2", "ranks is not a list", "ranks = [");
  expect_refused("[[group]]\nranks = [0,\n  \"1\"]\n", "3", "an element that is not a number", "ranks = [");
  expect_refused("[[group]]\nranks = [0]\n", "2", "ranks has 1 rank;", "ranks = [0, 1, ..], at least two");
  expect_refused("[[group]]\nranks = [0, -1]\n", "2", "rank -1", "0 to 4095");
  expect_refused("[[group]]\nranks = [0, 4096]\n", "2", "rank 4096", "0 to 4095");
  expect_refused("[[group]]\nranks = [0, 1, 0]\n", "2", "rank 0 is listed twice", "each rank once");
  expect_refused(group, "1", "a group has no workload", "workload = \"OPERATION:SIZE\"");
  expect_refused(group + "workload = 8\n", "3", "workload is not text", "workload = ");
  expect_refused(group + "workload = \"reduce\"\n", "3", "workload \"reduce\": it has no size", "OPERATION:SIZE");
  expect_refused(group + "workload = \"sendrecv:8,0-2\"\n", "3", "names rank 2, and there are 2", "ranks from 0 to 1");
  expect_refused(whole + "repeat = 0\n", "4", "repeat is 0", "a whole number, 1 to 100000");
  expect_refused(whole + "repeat = 100001\n", "4", "repeat is 100001", "a whole number");
  expect_refused(whole + "repeat = \"4\"\n", "4", "repeat is not a whole number", "a whole number");
  expect_refused(whole + "name = 4\n", "4", "name is not text", "text in quotes");
  expect_refused(whole + "name = \"a b\"\n", "4", "name \"a b\" is not valid", "1 to 63 characters");
  expect_refused(whole + "name = \"-rf\"\n", "4", "name \"-rf\" begins with \"-\"", "a letter, a digit or _ first");
  expect_refused(whole + "name = \"" + std::string(64, 'a') + "\"\n", "4", "name \"aaa", "1 to 63 characters");
  expect_refused(whole + whole + "name = \"group1\"\n", "7", "two groups are named \"group1\"",
                 "names that are unique");
  expect_refused(whole + "after = \"x\"\n", "4", "after is not a list", "after = [\"..\"]");
  expect_refused(whole + "after = [1]\n", "4", "after has an element that is not text", "after = ");
  expect_refused(whole + "after = [\"x\"]\n", "4", "no preceding group is named \"x\"", "after = ");
  expect_refused(whole + whole + "after = [\"group1\", \"group1\"]\n", "7", "\"group1\" is listed twice", "each group");
}

// This makes cycles of waiting groups impossible.
TEST(MixFileTest, AGroupWaitsOnlyForPrecedingGroups) {
  const std::string group = "[[group]]\nranks = [0, 1]\nworkload = \"reduce:8\"\n";
  expect_refused(group + "name = \"a\"\nafter = [\"a\"]\n", "5", "no preceding group is named \"a\"", "after");
  expect_refused(group + "after = [\"b\"]\n" + group + "name = \"b\"\n", "4", "no preceding group is named \"b\"",
                 "after");
}

TEST(MixFileTest, IsBounded) {
  expect_refused(std::string(kMaxMixFileBytes + 1, ' '), "1", "the file has 1048577 bytes", "at most 1048576");
  expect_refused("# " + std::string(kMaxMixFileLineBytes, '-'), "1", "the line has 1026 bytes", "at most 1024");
  std::string text;
  for (std::size_t i = 0; i <= kMaxMixGroups; ++i) {
    absl::StrAppend(&text, "[[group]]\nranks = [0, 1]\nworkload = \"reduce:8\"\n");
  }
  expect_refused(text, "1", "the file has 1025 groups", "at most 1024");
}

}  // namespace
}  // namespace cableway::workload
