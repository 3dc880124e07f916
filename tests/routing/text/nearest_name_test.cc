#include "routing/text/nearest_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cableway::routing {
namespace {

const std::vector<std::string_view> kNames = {"topology", "routes", "path",       "status", "ports",
                                              "events",   "env",    "plan ranks", "doctor", "sim"};

std::string nearest(std::string_view typed) {
  return std::string(nearest_name(typed, kNames).value_or("-"));
}

TEST(NearestName, IsTheOneWithTheFewestMistakes) {
  EXPECT_EQ(nearest("statsu"), "status") << "two letters swapped";
  EXPECT_EQ(nearest("stauts"), "status");
  EXPECT_EQ(nearest("route"), "routes") << "a letter is missing";
  EXPECT_EQ(nearest("portts"), "ports") << "a letter too many";
  EXPECT_EQ(nearest("dictor"), "doctor") << "a wrong letter";
  EXPECT_EQ(nearest("plan rnaks"), "plan ranks");
  EXPECT_EQ(nearest("status"), "status");
}

TEST(NearestName, AcceptsAPrefix) {
  EXPECT_EQ(nearest("topo"), "topology");
  EXPECT_EQ(nearest("plan"), "plan ranks");
  EXPECT_EQ(nearest("to"), "-") << "two letters say too little";
}

TEST(NearestName, IsNoneIfTooManyLettersAreWrong) {
  EXPECT_EQ(nearest(""), "-");
  EXPECT_EQ(nearest("x"), "-");
  EXPECT_EQ(nearest("sun"), "-") << "two of three letters";
  EXPECT_EQ(nearest("frobnicate"), "-");
  EXPECT_EQ(nearest(std::string(1 << 20, 's')), "-") << "no work is done for what is no name";
}

TEST(NearestName, PrefersTheFirstOfEquallyNearNames) {
  const std::vector<std::string_view> names = {"hold_ms", "hello_ms", "hold_us"};
  EXPECT_EQ(nearest_name("hold_s", names), "hold_ms");
  EXPECT_EQ(nearest_name("hold", names), "hold_ms");
}

TEST(DidYouMean, IsAQuestionInParenthesesOrEmpty) {
  EXPECT_EQ(did_you_mean("statsu", kNames), " (did you mean \"status\"?)");
  EXPECT_EQ(did_you_mean("frobnicate", kNames), "");
}

}  // namespace
}  // namespace cableway::routing
