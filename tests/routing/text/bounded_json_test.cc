#include "routing/text/bounded_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cableway::routing {
namespace {

constexpr JsonBounds kBounds{.bytes = 1000, .depth = 4, .values = 100};

std::string error_of(std::string_view text) {
  const absl::StatusOr<nlohmann::json> json = parse_bounded_json(text, "a.json", kBounds, "numbers");
  EXPECT_FALSE(json.ok()) << text;
  EXPECT_TRUE(absl::IsInvalidArgument(json.status()));
  return std::string(json.status().message());
}

bool parses(std::string_view text) {
  return parse_bounded_json(text, "a.json", kBounds, "numbers").ok();
}

TEST(BoundedJson, RefusesAMemberThatOccursTwice) {
  EXPECT_EQ(error_of(R"({"a": 1, "b": 2, "a": 1})"), "a.json: member \"a\" occurs twice; expected each member once");
  EXPECT_EQ(error_of(R"({"x": [{"a": 1}, 7, {"a": {}, "b": [3], "a": 2}]})"),
            "a.json: at /x/2: member \"a\" occurs twice; expected each member once");
  EXPECT_EQ(error_of(R"([[], {"y\n": {"": 1, "": 2}}])"),
            "a.json: at /1/y\\n: member \"\" occurs twice; expected each member once");
  EXPECT_EQ(error_of(R"({"a": 1, "\u0061": 2})"), "a.json: member \"a\" occurs twice; expected each member once");
}

TEST(BoundedJson, AcceptsAMemberInEachOfSeveralObjects) {
  EXPECT_TRUE(parses(R"([{"a": 1}, {"a": 2, "b": {"a": 3}}, ["a", "a"]])"));
  EXPECT_TRUE(parses(R"({"a": {"a": {"a": 1}}})"));
}

TEST(BoundedJson, RefusesANulByte) {
  EXPECT_EQ(error_of(std::string_view("{\"a\": 1}\n\0{\"b\": 2}", 18)), "a.json:2: a NUL byte; expected numbers");
  EXPECT_EQ(error_of(std::string_view("{\"a\0\": 1}", 9)), "a.json:1: a NUL byte; expected numbers");
}

TEST(BoundedJson, CountsAndNests) {
  EXPECT_TRUE(parses("[[[[1]]]]"));
  EXPECT_EQ(error_of("[[[[[1]]]]]"), "a.json: values are nested too deeply; expected at most 4 levels");
  std::string many = "[0";
  for (int i = 1; i < 99; ++i) many += ",0";
  EXPECT_TRUE(parses(many + "]"));
  EXPECT_EQ(error_of(many + ",0]"), "a.json: there are too many values; expected at most 100");
}

}  // namespace
}  // namespace cableway::routing
