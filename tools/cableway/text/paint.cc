#include "tools/cableway/text/paint.h"

#include <optional>

namespace cableway::cli {
namespace {

constexpr std::string_view kIntroducer = "\x1b[";
constexpr char kFinal = 'm';
constexpr std::string_view kPlain = "\x1b[0m";

// Colours that are legible on light and on dark terminals.
std::string_view sequence_of(Paint::Tone tone) {
  switch (tone) {
    case Paint::Tone::kGood:
      return "\x1b[32m";
    case Paint::Tone::kNotice:
      return "\x1b[36m";
    case Paint::Tone::kWarning:
      return "\x1b[33m";
    case Paint::Tone::kError:
      return "\x1b[1;31m";
  }
  return "";
}

std::optional<std::string_view> variable(const char* const* environment, std::string_view name) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string Paint::operator()(Tone tone, std::string_view word) const {
  std::string painted;
  if (!on_ || word.empty()) return painted.append(word);
  return painted.append(sequence_of(tone)).append(word).append(kPlain);
}

std::string Paint::severity(std::string_view name, std::string_view word) const {
  if (name == "error") return (*this)(Tone::kError, word);
  if (name == "warning") return (*this)(Tone::kWarning, word);
  if (name == "info") return (*this)(Tone::kNotice, word);
  return std::string(word);
}

std::string unpainted(std::string_view text) {
  std::string plain;
  while (true) {
    const std::size_t at = text.find(kIntroducer);
    const std::size_t end = at == std::string_view::npos ? at : text.find(kFinal, at);
    if (end == std::string_view::npos) return plain.append(text);
    plain.append(text.substr(0, at));
    text.remove_prefix(end + 1);
  }
}

std::size_t shown_width(std::string_view text) {
  return unpainted(text).size();
}

bool has_colour(std::string_view choice, const char* const* environment, bool on_terminal) {
  if (choice != "auto") return choice == "always";
  const bool is_refused =
      !variable(environment, "NO_COLOR").value_or("").empty() || variable(environment, "TERM") == "dumb";
  return on_terminal && !is_refused;
}

}  // namespace cableway::cli
