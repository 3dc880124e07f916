#include "routing/text/nearest_name.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"

namespace cableway::routing {
namespace {

constexpr std::size_t kLongestName = 64;  // bounds the running time
constexpr std::size_t kShortestPrefix = 3;
constexpr std::size_t kLettersPerMistake = 3;

// Optimal string alignment: insertions, deletions, replacements, and swaps of neighbours.
std::size_t mistakes_between(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before_last(right.size() + 1);
  std::vector<std::size_t> last(right.size() + 1);
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j <= right.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[right.size()];
}

// An abbreviated name counts as one mistake.
std::optional<std::size_t> mistakes_in(std::string_view typed, std::string_view name) {
  if (typed.size() >= kShortestPrefix && name.starts_with(typed)) return typed.size() == name.size() ? 0 : 1;
  const std::size_t mistakes = mistakes_between(typed, name);
  if (mistakes * kLettersPerMistake > std::max(typed.size(), name.size())) return std::nullopt;
  return mistakes;
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view typed, std::span<const std::string_view> names) {
  if (typed.empty() || typed.size() > kLongestName) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t fewest = kLongestName;
  for (const std::string_view name : names) {
    const std::optional<std::size_t> mistakes = mistakes_in(typed, name);
    if (!mistakes || *mistakes >= fewest) continue;
    nearest = name;
    fewest = *mistakes;
  }
  return nearest;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string_view> names) {
  const std::optional<std::string_view> nearest = nearest_name(typed, names);
  return nearest ? absl::StrCat(" (did you mean ", in_quotes(*nearest), "?)") : "";
}

}  // namespace cableway::routing
