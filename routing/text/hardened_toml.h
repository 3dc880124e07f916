// toml++ configured to parse untrusted files. Include it in place of toml++'s own header, from .cc files only.
//
//  - Header-only, so that targets that link this need no library; no exceptions; no formatters.
//  - Nested values recurse, and every line can nest dotted keys in each of them: few levels bound the destruction of a
//    document with bounded lines to some thousand stack frames.
//  - toml++ 3.3 and 3.4 assume facts about the next character that malformed text breaks ("[[=", "[}"), and assert them
//    in debug builds. The code after them handles those characters, so the assumptions are disabled here.
//  - It has undefined behaviour on many non-ASCII characters outside strings and comments; no setting avoids that, so
//    parse_hardened() replaces them.
#ifndef CABLEWAY_ROUTING_TEXT_HARDENED_TOML_H_
#define CABLEWAY_ROUTING_TEXT_HARDENED_TOML_H_

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16

#if __has_include(<toml++/impl/preprocessor.hpp>)
#include <toml++/impl/preprocessor.hpp>  // from 3.4 on
#else
#include <toml++/impl/preprocessor.h>
#endif

#undef TOML_ASSUME
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#define TOML_ASSUME(...) static_cast<void>(0)
#define TOML_ASSERT(...) static_cast<void>(0)
#define TOML_ASSERT_ASSUME(...) static_cast<void>(0)

#include <toml++/toml.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cableway::routing {

struct TomlBounds {
  std::size_t file_bytes;
  std::size_t line_bytes;  // bounds the nesting depth of dotted keys
};

// Every error, here and in the callers, is InvalidArgument and reads "FILE:LINE: what is wrong; what was expected";
// `file_name` is used only there. Lines count from 1.
absl::Status toml_fault(std::string_view file_name, std::uint32_t line, std::string_view message);

// `expected` describes the contents, after "expected ". In the table every non-ASCII byte is replaced by '/': see
// is_ascii(). A byte order mark is skipped.
absl::StatusOr<toml::table> parse_hardened(std::string_view text, std::string_view file_name, const TomlBounds& bounds,
                                           std::string_view expected);

// Rejects the first key of `table` that is not in `known`. `what` is how messages name the table.
absl::Status check_toml_keys(const toml::table& table, std::string_view file_name, std::string_view what,
                             const std::vector<std::string_view>& known);

// Whether the source text of `node`, of a table parsed from `text`, is ASCII only.
bool is_ascii(std::string_view text, const toml::node& node);

std::uint32_t line_of(const toml::node& node);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_HARDENED_TOML_H_
