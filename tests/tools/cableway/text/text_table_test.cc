#include "tools/cableway/text/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tools/cableway/text/paint.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using Align = TextTable::Align;
using Fit = TextTable::Fit;

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (const auto line : absl::StrSplit(text, '\n')) longest = std::max(longest, shown_width(std::string(line)));
  return longest;
}

TEST(TextTable, IsAlignedAndAsNarrowAsItsCells) {
  TextTable table({{"name"}, {"rate", Align::kRight}});
  table.add_row({"a", "100"});
  table.add_row({"longer", "5"});
  EXPECT_EQ(table.text(), "name    rate\na        100\nlonger     5\n");
}

TEST(TextTable, CutsWhatIsWideAndLeavesNumbers) {
  TextTable table({{"name"}, {"path", Align::kLeft, Fit::kCutMiddle}, {"number", Align::kRight}}, 40);
  table.add_row({"short", std::string(50, 'p') + "end", "123456789012"});
  EXPECT_EQ(longest_line(table.text()), 40U);
  EXPECT_THAT(table.text(), ::testing::HasSubstr("123456789012\n"));
  EXPECT_THAT(table.text(), ::testing::HasSubstr("ppp...ppp"));
  EXPECT_THAT(table.text(), ::testing::HasSubstr("end"));
  EXPECT_THAT(table.text(), ::testing::HasSubstr("\nshort  "));
}

TEST(TextTable, CutsTheWidestColumnsToOneWidth) {
  TextTable table({{"a"}, {"b"}, {"c"}}, 44);
  table.add_row({std::string(30, 'a'), std::string(40, 'b'), std::string(10, 'c')});
  EXPECT_EQ(table.text(), "a" + std::string(16, ' ') + "b" + std::string(16, ' ') + "c\n" + std::string(12, 'a') +
                              "...  " + std::string(12, 'b') + "...  " + std::string(10, 'c') + "\n");
}

TEST(TextTable, ContinuesProseInTheNextLine) {
  TextTable table({{"code"}, {"what happened", Align::kLeft, Fit::kWrap}}, 40);
  table.add_row({"UP", "the cable to n1 is up, and its latency is known by now"});
  table.add_row({"DOWN", "short"});
  EXPECT_EQ(table.text(),
            "code  what happened\n"
            "UP    the cable to n1 is up, and its\n"
            "      latency is known by now\n"
            "DOWN  short\n");
}

TEST(TextTable, OfAFileIsNotCut) {
  TextTable table({{"a"}}, kAnyColumns);
  table.add_row({std::string(300, 'a')});
  EXPECT_EQ(longest_line(table.text()), 300U);
}

TEST(TextTable, IsAsWideAsIfItHadNoColours) {
  const Paint paint(true);
  TextTable table({{"state"}, {"next"}});
  table.add_row({paint.state("up"), "x"});
  table.add_row({paint.state("heard"), "y"});
  EXPECT_EQ(table.text(), "state  next\n\x1b[32mup\x1b[0m     x\n\x1b[33mheard\x1b[0m  y\n");
}

TEST(TextTable, CutsNoSequenceOfAColour) {
  const Paint paint(true);
  TextTable table({{"id"}, {"remarks", Align::kLeft, Fit::kWrap}}, 22);
  table.add_row({"c0", paint(Paint::Tone::kWarning, "draining") + ", " + paint(Paint::Tone::kWarning, "loses 12 %")});
  EXPECT_EQ(table.text(), "id  remarks\nc0  draining, loses 12\n    %\n");
}

TEST(TextTable, WrappedLinesBreakAtSpacesElseWithinWords) {
  EXPECT_THAT(wrapped_lines("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped_lines("abcdefghij k", 4), ElementsAre("abcd", "efgh", "ij k"));
  EXPECT_THAT(wrapped_lines("", 4), ElementsAre(""));
}

TEST(TextTable, CutTextsHaveAnEllipsis) {
  EXPECT_EQ(cut_end("0123456789", 10), "0123456789");
  EXPECT_EQ(cut_end("0123456789", 6), "012...");
  EXPECT_EQ(cut_middle("0123456789", 8), "012...89");
  EXPECT_EQ(cut_end("0123456789", 2), "01");
}

}  // namespace
}  // namespace cableway::cli
