// The words of a Graphviz file (https://graphviz.org/doc/info/lang.html).
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
    kWord,      // an ID that is not in quotes: a name or a number; keywords too
    kQuoted,    // an ID in double quotes, without them
    kHtml,      // an ID in angle brackets, without its text
    kEdge,      // -- or ->
    kSign,      // one of { } [ ] ; , = :
    kFileEnds,  // nothing more
  };

  Kind kind = Kind::kFileEnds;
  std::string text;
  std::uint32_t line = 1;

  bool is_id() const { return kind == Kind::kWord || kind == Kind::kQuoted; }
  bool is_sign(char sign) const { return kind == Kind::kSign && text[0] == sign; }
  // Keywords are written in any case.
  bool is_keyword(std::string_view keyword) const;
};

// Takes a text apart, once, from its beginning to its end.
class DotLexer {
 public:
  explicit DotLexer(std::string_view text) : rest_(text) {}

  // The next word; the one that says that the file ends, again and again at its end. Comments and lines that begin with
  // '#' are passed over; quoted text that is joined by '+' is one word. InvalidArgument reads "what is wrong; what was
  // expected"; line() is where.
  absl::StatusOr<DotToken> next();

  // Of what was read last.
  std::uint32_t line() const { return line_; }

 private:
  absl::Status skip_what_is_no_word();
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
