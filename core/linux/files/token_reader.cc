#include "core/linux/files/token_reader.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/linux/files/secret_file.h"
#include "routing/text/node_name.h"

namespace cableway::host {
namespace {

constexpr std::size_t kMaxTokenFileBytes = 1024;
constexpr std::size_t kFewestTokenBytes = 16;
constexpr std::size_t kMostTokenBytes = 256;
constexpr char kTokenForm[] = "16 to 256 visible ASCII characters in one line, as from openssl rand -hex 32";

}  // namespace

absl::StatusOr<std::string> read_token(const std::string& path) {
  const absl::StatusOr<std::string> text = read_secret_file("token file", kTokenForm, path, kMaxTokenFileBytes + 1);
  if (!text.ok()) return text.status();
  const absl::string_view token = absl::StripAsciiWhitespace(*text);
  const bool is_visible = std::all_of(token.begin(), token.end(),
                                      [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); });
  if (text->size() <= kMaxTokenFileBytes && is_visible && token.size() >= kFewestTokenBytes &&
      token.size() <= kMostTokenBytes) {
    return std::string(token);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("token file ", routing::in_quotes(path), " is no token file; expected ", kTokenForm));
}

}  // namespace cableway::host
