#include "core/flow_circuits/suspects.h"

#include <algorithm>

namespace cableway {
namespace {

template <typename Key>
void keep_newest(std::map<Key, Instant>& failed_at, std::size_t most) {
  while (failed_at.size() > most) {
    failed_at.erase(std::min_element(failed_at.begin(), failed_at.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
}

}  // namespace

std::vector<std::string> elements_of_path(const std::vector<Hop>& hops) {
  std::vector<std::string> elements;
  for (const Hop& hop : hops) {
    elements.push_back(hop.cable);
    if (&hop != &hops.back()) elements.push_back(hop.to_node);
  }
  return elements;
}

void Suspects::add(const Path& path, const std::vector<std::string>& suspected, Instant now) {
  for (const std::string& element : suspected) elements_[element] = now;
  paths_[path] = now;
  keep_newest(elements_, kMost);
  keep_newest(paths_, kMost);
}

Instant Suspects::last_failure(const Path& path) const {
  Instant latest{};
  for (const std::string& element : path) {
    if (const auto found = elements_.find(element); found != elements_.end()) latest = std::max(latest, found->second);
  }
  return latest;
}

std::pair<Instant, Instant> Suspects::order(const Path& path) const {
  const auto found = paths_.find(path);
  return {last_failure(path), found == paths_.end() ? Instant{} : found->second};
}

}  // namespace cableway
