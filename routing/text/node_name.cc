#include "routing/text/node_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "routing/text/absl_view.h"

namespace cableway::routing {
namespace {

bool is_digit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

// Removes leading digits from `text` and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  std::string_view number = text.substr(0, length);
  text.remove_prefix(length);
  while (!number.empty() && number.front() == '0') number.remove_prefix(1);
  return number;
}

bool has_valid_characters(std::string_view name, std::size_t max_length) {
  return !name.empty() && name.size() <= max_length && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  });
}

}  // namespace

bool is_valid_name(std::string_view name, std::size_t max_length) {
  return has_valid_characters(name, max_length) && name.front() != '.' && name.front() != '-';
}

std::string name_fault(std::string_view name, std::size_t max_length) {
  if (has_valid_characters(name, max_length)) {
    return absl::StrCat("begins with \"", std::string(1, name.front()), "\"; expected a letter, a digit or _ first");
  }
  return absl::StrCat("is not valid; expected 1 to ", max_length, " characters of A-Z a-z 0-9 . _ -");
}

bool natural_less(std::string_view left, std::string_view right) {
  std::string_view left_rest = left;
  std::string_view right_rest = right;
  while (!left_rest.empty() && !right_rest.empty()) {
    if (is_digit(left_rest.front()) && is_digit(right_rest.front())) {
      const std::string_view left_number = take_number(left_rest);
      const std::string_view right_number = take_number(right_rest);
      if (left_number.size() != right_number.size()) return left_number.size() < right_number.size();
      if (left_number != right_number) return left_number < right_number;
      continue;
    }
    if (left_rest.front() != right_rest.front()) return left_rest.front() < right_rest.front();
    left_rest.remove_prefix(1);
    right_rest.remove_prefix(1);
  }
  if (left_rest.empty() != right_rest.empty()) return left_rest.empty();
  return left < right;  // equal except for leading zeros
}

std::string in_quotes(std::string_view text, std::size_t most) {
  const std::string shown = absl::CHexEscape(absl_view(text.substr(0, most)));
  return absl::StrCat("\"", absl::StrReplaceAll(shown, {{"\\'", "'"}}), text.size() > most ? "\".." : "\"");
}

std::string escaped(std::string_view text) {
  return absl::StrReplaceAll(absl::CHexEscape(absl_view(text)), {{"\\'", "'"}, {"\\\"", "\""}});
}

}  // namespace cableway::routing
