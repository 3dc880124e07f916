#include "core/event/recent_names.h"

#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/event/problems.h"

namespace cableway {

void RecentNames::note(const std::string& name, Instant now) {
  std::erase_if(noted_, [&](const auto& each) { return now - each.second >= Problems::kLasts; });
  if (now - more_ >= Problems::kLasts) has_more_ = false;
  if (noted_.size() >= kMax && !noted_.contains(name)) {
    more_ = now;
    has_more_ = true;
    return;
  }
  noted_[name] = now;
}

std::string RecentNames::text() const {
  std::vector<std::string> names;
  for (const auto& [name, when] : noted_) {
    if (names.size() < kMaxNamed) names.push_back(name);
  }
  const std::size_t others = noted_.size() - names.size();
  std::string last;
  if (has_more_) {
    last = absl::StrCat(others, " or more others");
  } else if (others > 0) {
    last = absl::StrCat(others, " more");
  } else {
    last = names.back();
    names.pop_back();
  }
  return names.empty() ? last : absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
}

}  // namespace cableway
