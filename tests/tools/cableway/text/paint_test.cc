#include "tools/cableway/text/paint.h"

#include <gtest/gtest.h>

#include <vector>

namespace cableway::cli {
namespace {

bool colour(const char* choice, std::vector<const char*> environment, bool on_terminal) {
  environment.push_back(nullptr);
  return has_colour(choice, environment.data(), on_terminal);
}

TEST(Paint, IsOnOnATerminalOnly) {
  EXPECT_TRUE(colour("auto", {}, true));
  EXPECT_FALSE(colour("auto", {}, false));
  EXPECT_TRUE(colour("always", {}, false));
  EXPECT_FALSE(colour("never", {}, true));
}

TEST(Paint, IsOffWhereTheEnvironmentRefusesIt) {
  EXPECT_FALSE(colour("auto", {"NO_COLOR=1"}, true));
  EXPECT_TRUE(colour("auto", {"NO_COLOR="}, true)) << "an empty one counts as not set";
  EXPECT_TRUE(colour("auto", {"NO_COLORS=1", "XNO_COLOR=1"}, true));
  EXPECT_FALSE(colour("auto", {"TERM=dumb"}, true));
  EXPECT_TRUE(colour("auto", {"TERM=xterm"}, true));
  EXPECT_TRUE(colour("always", {"NO_COLOR=1"}, true)) << "the option is more specific";
}

TEST(Paint, ChangesNothingWhereItIsOff) {
  EXPECT_EQ(Paint().severity("error", "error"), "error");
  EXPECT_EQ(Paint().state("up"), "up");
  EXPECT_EQ(Paint(true)(Paint::Tone::kGood, ""), "");
}

TEST(Paint, TellsSeveritiesApart) {
  const Paint paint(true);
  EXPECT_NE(paint.severity("error", "x"), paint.severity("warning", "x"));
  EXPECT_NE(paint.severity("info", "x"), paint.severity("warning", "x"));
  EXPECT_EQ(paint.severity("debug", "x"), "x");
  EXPECT_EQ(shown_width(paint.severity("error", "error")), 5U);
  EXPECT_EQ(shown_width("a\x1b[1mb\x1b[0mc"), 3U);
  EXPECT_EQ(shown_width("\x1b[no end"), 8U);
}

}  // namespace
}  // namespace cableway::cli
