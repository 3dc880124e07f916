#include "routing/text/node_name.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cableway::routing {
namespace {

TEST(NodeName, AllowsOnlyItsCharactersAndLength) {
  EXPECT_TRUE(is_valid_name("n0", 63));
  EXPECT_TRUE(is_valid_name("Rack-1_host.example", 63));
  EXPECT_TRUE(is_valid_name(std::string(63, 'a'), 63));
  EXPECT_FALSE(is_valid_name(std::string(64, 'a'), 63));
  EXPECT_FALSE(is_valid_name("", 63));
  EXPECT_FALSE(is_valid_name("a b", 63));
  EXPECT_FALSE(is_valid_name("a/b", 63));
  EXPECT_FALSE(is_valid_name("n\xc3\xa9", 63));
  EXPECT_FALSE(is_valid_name(std::string("a\0b", 3), 63));
  for (const char* name : {".", "..", "...", ".n0", "-", "--", "-rf", "-n0", "--help"}) {
    EXPECT_FALSE(is_valid_name(name, 63)) << name;
  }
  for (const char* name : {"_", "0", "n-", "n.", "a..b", "a-rf"}) EXPECT_TRUE(is_valid_name(name, 63)) << name;
}

TEST(NaturalOrder, ComparesRunsOfDigitsAsNumbers) {
  const std::vector<std::string> ordered = {"",   "0",   "1",   "01a", "1a", "1b",    "2",      "10",     "A",
                                            "n",  "n0",  "n00", "n1",  "n1", "n01.5", "n1.5",   "n1.10",  "n2",
                                            "n9", "n10", "n11", "n99", "na", "nn",    "node-2", "node-11"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      if (ordered[i] == ordered[j]) {
        EXPECT_FALSE(natural_less(ordered[i], ordered[j])) << ordered[i];
      } else {
        EXPECT_EQ(natural_less(ordered[i], ordered[j]), i < j) << ordered[i] << " and " << ordered[j];
      }
    }
  }
}

TEST(NaturalOrder, NumbersLongerThanAnyIntegerCompare) {
  const std::string nines(100, '9');
  EXPECT_TRUE(natural_less("n" + nines, "n1" + std::string(100, '0')));
  EXPECT_FALSE(natural_less("n1" + std::string(100, '0'), "n" + nines));
}

// Names of files stand unquoted in front of messages: none passes for another line, or moves the cursor.
TEST(Escaped, LeavesNoControlCharacters) {
  EXPECT_EQ(escaped("dir/a b's \"lab\".toml"), "dir/a b's \"lab\".toml");
  EXPECT_EQ(escaped("a\n1: ok\x1b[2J\x7f.toml"), "a\\n1: ok\\x1b[2J\\x7f.toml");
  EXPECT_EQ(escaped("back\\slash"), "back\\\\slash");
}

TEST(InQuotes, EscapesAndCuts) {
  EXPECT_EQ(in_quotes("n0"), "\"n0\"");
  EXPECT_EQ(in_quotes(std::string("a\0\n\"\xff", 5)), "\"a\\x00\\n\\\"\\xff\"");
  EXPECT_EQ(in_quotes(std::string(81, 'x')), "\"" + std::string(80, 'x') + "\"..");
}

}  // namespace
}  // namespace cableway::routing
