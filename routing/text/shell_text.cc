#include "routing/text/shell_text.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace cableway::routing {
namespace {

bool is_plain_word(const std::string& word) {
  constexpr std::string_view kPlainCharacters = "_./:,=@%+-";
  // zsh expands a leading '=' to the path of a command.
  return !word.empty() && word.front() != '=' && std::all_of(word.begin(), word.end(), [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kPlainCharacters.find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string shell_quoted(const std::string& word) {
  return is_plain_word(word) ? word : absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

}  // namespace cableway::routing
