#include "core/flow_circuits/suspects.h"

#include <algorithm>

namespace cableway {

std::vector<std::string> elements_of_path(const std::vector<Hop>& hops) {
  std::vector<std::string> elements;
  for (const Hop& hop : hops) {
    elements.push_back(hop.cable);
    if (&hop != &hops.back()) elements.push_back(hop.to_node);
  }
  return elements;
}

void Suspects::add(const std::vector<std::string>& elements, Instant now) {
  for (const std::string& element : elements) failed_at_[element] = now;
  while (failed_at_.size() > kMax) {
    failed_at_.erase(std::min_element(failed_at_.begin(), failed_at_.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
}

Instant Suspects::last_failure(const std::vector<std::string>& elements) const {
  Instant latest{};
  for (const std::string& element : elements) {
    if (const auto found = failed_at_.find(element); found != failed_at_.end()) {
      latest = std::max(latest, found->second);
    }
  }
  return latest;
}

}  // namespace cableway
