#include "routing/topology_io/dot_lexer.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"

namespace cableway::routing {
namespace {

bool is_dot_digit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

// Names may contain any non-ASCII byte.
bool begins_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalpha(byte) || c == '_' || !absl::ascii_isascii(byte);
}

bool continues_name(char c) {
  return begins_name(c) || is_dot_digit(c);
}

// The length of the number that `text` begins with: -?(.digits | digits(.digits*)?); 0 if it begins with none.
std::size_t number_length(std::string_view text) {
  const auto digits_from = [text](std::size_t at) {
    while (at < text.size() && is_dot_digit(text[at])) ++at;
    return at;
  };
  const std::size_t begin = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits_from(begin);
  if (whole == text.size() || text[whole] != '.') return whole == begin ? 0 : whole;
  const std::size_t end = digits_from(whole + 1);
  return end == whole + 1 && whole == begin ? 0 : end;
}

absl::Status fault(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

}  // namespace

bool DotToken::is_keyword(std::string_view keyword) const {
  return kind == Kind::kWord && absl::EqualsIgnoreCase(text, absl::string_view(keyword.data(), keyword.size()));
}

void DotLexer::advance(std::size_t bytes) {
  const std::string_view passed = rest_.substr(0, bytes);
  line_ += static_cast<std::uint32_t>(std::count(passed.begin(), passed.end(), '\n'));
  if (!passed.empty()) line_begins_ = passed.back() == '\n';
  rest_.remove_prefix(bytes);
}

absl::Status DotLexer::skip_blanks_and_comments() {
  const auto to_line_end = [this] { return std::min(rest_.find('\n'), rest_.size()); };
  while (!rest_.empty()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(rest_.front()))) {
      advance(1);
    } else if (rest_.starts_with("//") || (rest_.front() == '#' && line_begins_)) {
      advance(to_line_end());
    } else if (rest_.starts_with("/*")) {
      const std::size_t end = rest_.find("*/", 2);
      if (end == std::string_view::npos) return fault("unterminated comment; expected */");
      advance(end + 2);
    } else {
      break;
    }
  }
  return absl::OkStatus();
}

DotToken DotLexer::take(DotToken::Kind kind, std::size_t length) {
  DotToken token{kind, std::string(rest_.substr(0, length)), line_};
  advance(length);
  return token;
}

// Only an escaped quote and an escaped line end are interpreted. Graphviz leaves other backslash sequences to the
// application, so they are kept as they are.
absl::StatusOr<std::string> DotLexer::take_quoted() {
  std::string text;
  std::size_t at = 1;
  for (; at < rest_.size() && rest_[at] != '"'; ++at) {
    const std::string_view here = rest_.substr(at, 2);
    if (rest_[at] == '\0') return fault("a NUL byte in quoted text; expected text without one");
    if (here == "\\\n") {
      ++at;
    } else if (here == "\\\"") {
      text += rest_[++at];
    } else if (here == "\\\\") {
      text += here;
      ++at;
    } else {
      text += rest_[at];
    }
  }
  if (at == rest_.size()) return fault("unterminated quoted text; expected \"");
  advance(at + 1);
  return text;
}

absl::StatusOr<DotToken> DotLexer::take_joined_quotes() {
  DotToken token{DotToken::Kind::kQuoted, "", line_};
  for (;;) {
    const absl::StatusOr<std::string> part = take_quoted();
    if (!part.ok()) return part.status();
    token.text += *part;
    if (absl::Status status = skip_blanks_and_comments(); !status.ok()) return status;
    if (!rest_.starts_with('+')) return token;
    advance(1);
    if (absl::Status status = skip_blanks_and_comments(); !status.ok()) return status;
    if (!rest_.starts_with('"')) return fault("no quoted text after a +; expected text in quotes");
  }
}

absl::StatusOr<DotToken> DotLexer::take_html() {
  DotToken token{DotToken::Kind::kHtml, "", line_};
  std::size_t depth = 0;
  for (std::size_t at = 0; at < rest_.size(); ++at) {
    if (rest_[at] == '<') ++depth;
    if (rest_[at] == '>') --depth;
    if (depth == 0) {
      advance(at + 1);
      return token;
    }
  }
  return fault("unterminated text in angle brackets; expected >");
}

// A name or a number. A name and a number without a space between them, as in n-0 or 7a, are one invalid name.
absl::StatusOr<DotToken> DotLexer::take_word() {
  const auto* const name_end = std::find_if_not(rest_.data(), rest_.data() + rest_.size(), continues_name);
  const bool is_name = begins_name(rest_.front());
  const std::size_t length = is_name ? static_cast<std::size_t>(name_end - rest_.data()) : number_length(rest_);
  const std::string_view after = rest_.substr(length);
  const std::size_t run_on =
      is_name ? number_length(after)
              : static_cast<std::size_t>(!after.empty() && (continues_name(after[0]) || after[0] == '.'));
  if (length > 0 && run_on == 0) return take(DotToken::Kind::kWord, length);
  return fault(absl::StrCat(
      in_quotes(rest_.substr(0, std::max<std::size_t>(length + run_on, 1))),
      " is not a name; expected quotes around one that begins with a digit or has more than letters, digits and _"));
}

absl::StatusOr<DotToken> DotLexer::next() {
  constexpr std::string_view kSigns = "{}[];,=:";
  if (absl::Status status = skip_blanks_and_comments(); !status.ok()) return status;
  if (rest_.empty()) return DotToken{DotToken::Kind::kFileEnds, "", line_};
  const char first = rest_.front();
  if (rest_.starts_with("--") || rest_.starts_with("->")) return take(DotToken::Kind::kEdge, 2);
  if (first == '"') return take_joined_quotes();
  if (first == '<') return take_html();
  if (kSigns.find(first) != std::string_view::npos) return take(DotToken::Kind::kSign, 1);
  return take_word();
}

}  // namespace cableway::routing
