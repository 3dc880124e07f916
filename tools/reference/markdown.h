// The parts of docs/*.md that manual pages take over, as pieces of a page. Knows the Markdown that these documents use:
// headings, paragraphs, lists, tables, code, emphasis and links.
#ifndef CABLEWAY_TOOLS_REFERENCE_MARKDOWN_H_
#define CABLEWAY_TOOLS_REFERENCE_MARKDOWN_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/reference/roff_page.h"

namespace cableway::reference {

// One block: a heading, a paragraph, an item of a list, a table or code.
struct Block {
  enum class Kind { kHeading, kParagraph, kItem, kTable, kCode };

  Kind kind;
  int level = 0;                                    // of a heading, from 1
  std::string text = {};                            // of a heading, a paragraph or an item
  std::vector<std::string> lines = {};              // of code
  std::vector<std::vector<std::string>> rows = {};  // of a table: cells; the first row is its header
};

std::vector<Block> parse_markdown(std::string_view text);

// The blocks below the heading, up to the next one of its level or above. NotFound: there is no such heading;
// `file` names the document in the error.
absl::StatusOr<std::vector<Block>> blocks_below(const std::vector<Block>& blocks, std::string_view heading,
                                                std::string_view file);

// Whether it is a table whose header begins with this cell.
bool has_header(const Block& block, std::string_view first);

// Text with `code`, **bold** and [links](to), as spans. A link to a document whose text is a manual page names the
// page, unless it is the page `own`.
Spans spans_of(std::string_view markdown, std::string_view own);

// Adds the blocks to the page; headings become subsections.
void add_blocks(RoffPage& page, const std::vector<Block>& blocks);

}  // namespace cableway::reference

#endif  // CABLEWAY_TOOLS_REFERENCE_MARKDOWN_H_
