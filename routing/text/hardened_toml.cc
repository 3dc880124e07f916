#include "routing/text/hardened_toml.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "routing/text/absl_view.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"

namespace cableway::routing {
namespace {

bool beyond_ascii(char c) {
  return !absl::ascii_isascii(static_cast<unsigned char>(c));
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

// Comments are replaced too, which has no effect. Elsewhere '/' is an error in names, addresses and interfaces.
std::string ascii_only(std::string_view text) {
  std::string ascii(text);
  std::replace_if(ascii.begin(), ascii.end(), beyond_ascii, '/');
  return ascii;
}

absl::Status check_size(std::string_view text, std::string_view file_name, const TomlBounds& bounds) {
  if (text.size() > bounds.file_bytes) {
    return toml_fault(file_name, 1,
                      absl::StrCat("the file has ", text.size(), " bytes; expected at most ", bounds.file_bytes));
  }
  std::uint32_t line = 1;
  for (std::string_view rest = text;; ++line) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    if (length > bounds.line_bytes) {
      return toml_fault(file_name, line,
                        absl::StrCat("the line has ", length, " bytes; expected at most ", bounds.line_bytes));
    }
    if (length == rest.size()) return absl::OkStatus();
    rest.remove_prefix(length + 1);
  }
}

// The offset of `position` in `text`; the end of `text` if it lies past that. Columns count from 1, and are bytes since
// toml++ parses ASCII only.
std::size_t offset_of(std::string_view text, const toml::source_position& position) {
  std::size_t offset = 0;
  for (std::uint32_t line = 1; line < position.line; ++line) {
    offset = text.find('\n', offset);
    if (offset == std::string_view::npos) return text.size();
    ++offset;
  }
  return std::min(text.size(), offset + (position.column > 0 ? position.column - 1 : 0));
}

}  // namespace

absl::Status toml_fault(std::string_view file_name, std::uint32_t line, std::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrCat(escaped(file_name), ":", std::max(line, 1U), ": ", absl_view(message)));
}

absl::StatusOr<toml::table> parse_hardened(std::string_view text, std::string_view file_name, const TomlBounds& bounds,
                                           std::string_view expected) {
  text = without_byte_order_mark(text);
  if (absl::Status status = check_size(text, file_name, bounds); !status.ok()) return status;
  toml::parse_result parsed = toml::parse(ascii_only(text), std::string_view());
  if (!parsed) {
    const std::string_view why = parsed.error().description();
    return toml_fault(
        file_name, parsed.error().source().begin.line,
        absl::StrCat("syntax error: ", absl::Utf8SafeCHexEscape(absl_view(why)), "; expected ", absl_view(expected)));
  }
  return std::move(parsed).table();
}

absl::Status check_toml_keys(const toml::table& table, std::string_view file_name, std::string_view what,
                             const std::vector<std::string_view>& known) {
  for (const auto& [key, value] : table) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    std::string expected;
    for (const std::string_view name : known) absl::StrAppend(&expected, expected.empty() ? "" : ", ", absl_view(name));
    return toml_fault(file_name, key.source().begin.line,
                      absl::StrCat("unknown key ", in_quotes(key.str()), did_you_mean(key.str(), known), " in ",
                                   absl_view(what), "; expected one of ", expected));
  }
  return absl::OkStatus();
}

bool is_ascii(std::string_view text, const toml::node& node) {
  text = without_byte_order_mark(text);
  const std::size_t begin = offset_of(text, node.source().begin);
  const std::size_t end = std::max(begin, offset_of(text, node.source().end));
  const std::string_view spelled = text.substr(begin, end - begin);
  return std::none_of(spelled.begin(), spelled.end(), beyond_ascii);
}

std::uint32_t line_of(const toml::node& node) {
  return node.source().begin.line;
}

}  // namespace cableway::routing
