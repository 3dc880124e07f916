#include "tools/cableway/text/prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tools/cableway/text/paint.h"

namespace cableway::cli {
namespace {

TEST(Prose, GoesOnBelowItsBeginning) {
  EXPECT_EQ(prose_lines("  what  ", "one two three", 15), "  what  one two\n        three\n");
  EXPECT_EQ(prose_lines("-> ", "one\ntwo", 15), "-> one\n   two\n");
  EXPECT_EQ(prose_lines("", "", 15), "\n");
}

TEST(Prose, BreaksNoWord) {
  EXPECT_EQ(prose_lines("  ", "a 0123456789012345 b", 10), "  a\n  0123456789012345\n  b\n");
  EXPECT_EQ(prose_lines("  ", "heard 0.1 s ago", 11), "  heard\n  0.1 s ago\n") << "nor a number from its unit";
}

TEST(Prose, KeepsACommandInOneLine) {
  EXPECT_EQ(prose_lines("-> ", "it is down: ip link set eth1 up, then look again", 26),
            "-> it is down:\n   ip link set eth1 up,\n   then look again\n");
  EXPECT_EQ(prose_lines("-> ", "see it (cableway ports --all) or ask", 20),
            "-> see it\n   (cableway ports --all)\n   or ask\n");
  EXPECT_EQ(prose_lines("-> ", "cableway ports says why an interface is not used", 26),
            "-> cableway ports says why\n   an interface is not\n   used\n");
}

TEST(Prose, KeepsALongerCommandInOneLine) {
  const std::string command = "sysctl -w a.b=1 c.d=2 e.f=3 g.h=4";
  EXPECT_EQ(prose_lines("-> ", command + "\nand more", 20), "-> " + command + "\n   and more\n");
}

TEST(Prose, CountsNoColours) {
  const Paint paint(true);
  EXPECT_EQ(prose_lines(paint.severity("error", "error") + "  ", "one " + paint.state("up") + " three", 13),
            "\x1b[1;31merror\x1b[0m  one \x1b[32mup\x1b[0m\n       three\n");
}

TEST(Prose, IsAsWideAsTheTerminalWithinBounds) {
  EXPECT_EQ(prose_columns(0), 120U);
  EXPECT_EQ(prose_columns(80), 80U);
  EXPECT_EQ(prose_columns(20), 60U);
  EXPECT_EQ(prose_columns(200), 120U);
}

}  // namespace
}  // namespace cableway::cli
