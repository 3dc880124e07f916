#include "tools/reference/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cableway::reference {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string shown(const std::string& markdown, const std::string& own = "") {
  std::string text;
  for (const Span& span : spans_of(markdown, own))
    text += span.font == Span::Font::kBold ? "<" + span.text + ">" : span.text;
  return text;
}

std::string as_page(const std::string& markdown) {
  RoffPage page({"x", 7, "1", "y"});
  add_blocks(page, parse_markdown(markdown));
  return page.text();
}

TEST(SpansTest, CodeAndEmphasisAreBold) {
  EXPECT_EQ(shown("**`path A B`** and `x*y` or **both**, 2 * 3"), "<path A B> and <x*y> or <both>, 2 * 3");
  EXPECT_EQ(shown("an open ` and ** stay"), "an open ` and ** stay");
}

TEST(SpansTest, LinksNameAPageOrADocument) {
  EXPECT_EQ(shown("[codes](findings.md)"), "codes (cableway-events(7))");
  EXPECT_EQ(shown("the [topology file](settings.md#the-topology-file)"), "the topology file (cableway-topology(5))");
  EXPECT_EQ(shown("the [topology file](settings.md#the-topology-file)", "cableway-topology(5)"), "the topology file");
  EXPECT_EQ(shown("([events](findings.md))"), "(events: cableway-events(7))");
  EXPECT_EQ(shown("[0020](decisions/0020-drain.md#x)"), "0020 (docs/decisions/0020-drain.md)");
  EXPECT_EQ(shown("[below](#sim), [`a`](https://b.org)"), "below, <a> (https://b.org)");
  EXPECT_EQ(shown("[[node]] and [--json]"), "[[node]] and [--json]");
}

TEST(MarkdownTest, ParagraphsListsAndCode) {
  const std::string page = as_page("# T\n\none\ntwo\n- three\n  four\n- five\n\n    cableway x\n\n```\nb\n```\nlast");
  EXPECT_THAT(page, HasSubstr(".SS T\none two\n.IP \\(bu 2\nthree four\n.IP \\(bu 2\nfive\n"));
  EXPECT_THAT(page, EndsWith(".nf\ncableway x\n.fi\n.RE\n.PP\n.RS 4\n.nf\nb\n.fi\n.RE\n.PP\nlast\n"));
}

TEST(MarkdownTest, TablesAreLists) {
  const std::string page =
      as_page("| shape | | sizes |\n|---|---|---|\n| `line:N` | in `a|b` \\| row | from 2 |\n| x | - | |");
  EXPECT_THAT(page, EndsWith(".TP 7\n\\fBline:N\\fR\nin \\fBa|b\\fR | row; sizes: from 2\n.TP 7\nx\n\\&\n"));
  const std::string words = "forty letters and more are no tag but text";
  EXPECT_THAT(as_page("| a | b |\n|---|---|\n| " + words + " | c |"), EndsWith(".IP \\(bu 2\n" + words + ": c\n"));
}

TEST(MarkdownTest, BlocksBelowAHeading) {
  const std::vector<Block> blocks = parse_markdown("# A\nx\n## B\ny\n### C\nz\n## D\nw");
  const auto found = blocks_below(blocks, "B", "docs/a.md");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 3U);
  EXPECT_EQ((*found)[0].text, "y");
  EXPECT_EQ((*found)[2].text, "z");
  EXPECT_THAT(std::string(blocks_below(blocks, "E", "docs/a.md").status().message()),
              HasSubstr("docs/a.md has no heading \"E\""));
}

}  // namespace
}  // namespace cableway::reference
