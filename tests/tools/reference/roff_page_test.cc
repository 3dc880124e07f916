#include "tools/reference/roff_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cableway::reference {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

RoffPage page() {
  return RoffPage({"cableway-path", 1, "0.1.0", "the paths"});
}

TEST(RoffEscapedTest, KeepsMinusSignsAndHyphensApart) {
  EXPECT_EQ(roff_escaped("a set-up with --flow-id -1", Hyphens::kByWord), "a set-up with \\-\\-flow\\-id \\-1");
  EXPECT_EQ(roff_escaped("share/x-y n0-n1 memlock=-1", Hyphens::kByWord), "share/x\\-y n0\\-n1 memlock=\\-1");
  EXPECT_EQ(roff_escaped("set-up", Hyphens::kMinuses), "set\\-up");
}

TEST(RoffEscapedTest, KeepsWhatRoffWouldRead) {
  EXPECT_EQ(roff_escaped("\\xNN 'a' `b` 2^D ~/x", Hyphens::kByWord), "\\exNN \\(aqa\\(aq \\(gab\\(ga 2\\(haD \\(ti/x");
  EXPECT_EQ(roff_escaped(" a  b ", Hyphens::kByWord), " a  b ");
}

TEST(RoffEscapedTest, LongWordsCanBeBroken) {
  EXPECT_EQ(roff_escaped("all_reduce|all_gather|broadcast", Hyphens::kByWord), "all_reduce|\\:all_gather|\\:broadcast");
  EXPECT_EQ(roff_escaped("a|b", Hyphens::kByWord), "a|b");
}

TEST(RoffPageTest, BeginsWithTitleAndName) {
  EXPECT_EQ(page().text(),
            ".TH CABLEWAY\\-PATH 1 \"\" \"Cableway 0.1.0\" \"Cableway\"\n.ad l\n.nh\n.SH NAME\ncableway\\-path \\- the "
            "paths\n");
  EXPECT_EQ(page().reference(), "cableway-path(1)");
}

TEST(RoffPageTest, TextIsNeverARequest) {
  RoffPage paragraphs = page();
  paragraphs.paragraph({plain("' and .toml")});
  paragraphs.tagged({plain(".dot")}, {plain("'a'")});
  paragraphs.literal({".SH x", "'br"});
  EXPECT_THAT(paragraphs.text(), HasSubstr("\n\\(aq and .toml\n"));
  EXPECT_THAT(paragraphs.text(), HasSubstr(".TP 7\n\\&.dot\n\\(aqa\\(aq\n"));
  EXPECT_THAT(paragraphs.text(), HasSubstr(".nf\n\\&.SH x\n\\(aqbr\n.fi"));
}

TEST(RoffPageTest, NoEmptyParagraphBelowAHeading) {
  RoffPage paragraphs = page();
  paragraphs.section("See also");
  paragraphs.paragraph({plain("a\nb")});
  paragraphs.paragraph({bold("c"), plain(", "), italic("d-e")});
  EXPECT_THAT(paragraphs.text(), EndsWith(".SH SEE ALSO\na b\n.PP\n\\fBc\\fR, \\fId\\-e\\fR\n"));
}

TEST(RoffPageTest, LongLinesKeepTheirMeaning) {
  RoffPage lines = page();
  const std::string tail(50, 'x');
  lines.literal({"  key = 1     # why " + tail,
                 "cableway sim --topology ring:8 --workload all_reduce:256MiB --html report.html",
                 "cableway sim --topology '" + tail + "' --html report.html",
                 "  # one two three four five six seven eight nine ten eleven twelve thirteen", tail + tail});
  EXPECT_THAT(lines.text(), HasSubstr("\n  # why " + tail + "\n  key = 1\n"));
  EXPECT_THAT(lines.text(), HasSubstr("\ncableway sim \\-\\-topology ring:8 \\-\\-workload all_reduce:256MiB \\e\n"
                                      "    \\-\\-html report.html\n"));
  EXPECT_THAT(lines.text(), HasSubstr(tail + "\\(aq \\-\\-html report.html\n"));
  EXPECT_THAT(lines.text(), HasSubstr("eleven twelve\n  # thirteen\n"));
  EXPECT_THAT(lines.text(), HasSubstr("\n" + tail + tail + "\n"));
}

}  // namespace
}  // namespace cableway::reference
