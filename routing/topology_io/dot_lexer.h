// The lexer for Graphviz files (https://graphviz.org/doc/info/lang.html).
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_DOT_LEXER_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_DOT_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace cableway::routing {

struct DotToken {
  enum class Kind {
    kWord,      // an unquoted ID: a name, a number or a keyword
    kQuoted,    // an ID in double quotes, without them
    kHtml,      // an ID in angle brackets, without its text
    kEdge,      // -- or ->
    kSign,      // one of { } [ ] ; , = :
    kFileEnds,  // end of file
  };

  Kind kind = Kind::kFileEnds;
  std::string text;
  std::uint32_t line = 1;

  bool is_id() const { return kind == Kind::kWord || kind == Kind::kQuoted; }
  bool is_sign(char sign) const { return kind == Kind::kSign && text[0] == sign; }
  // Keywords are case-insensitive.
  bool is_keyword(std::string_view keyword) const;
};

// Splits a text into tokens, in one pass.
class DotLexer {
 public:
  explicit DotLexer(std::string_view text) : rest_(text) {}

  // Returns the next token; kFileEnds repeatedly at the end of the file. Skips comments and lines that begin with '#';
  // quoted texts joined by '+' are one token. InvalidArgument reads "what is wrong; what was expected"; line() has the
  // position.
  absl::StatusOr<DotToken> next();

  // The line of the last token read.
  std::uint32_t line() const { return line_; }

 private:
  absl::Status skip_blanks_and_comments();
  absl::StatusOr<std::string> take_quoted();
  absl::StatusOr<DotToken> take_joined_quotes();
  absl::StatusOr<DotToken> take_html();
  absl::StatusOr<DotToken> take_word();
  DotToken take(DotToken::Kind kind, std::size_t length);
  void advance(std::size_t bytes);

  std::string_view rest_;
  std::uint32_t line_ = 1;
  bool line_begins_ = true;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_DOT_LEXER_H_
