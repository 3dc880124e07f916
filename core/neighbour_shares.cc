#include "core/neighbour_shares.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cableway {

std::string share_holder_text(const std::string& holder) {
  return holder == kNoNeighbour ? "addresses that belong to no neighbour" : absl::StrCat("node ", holder);
}

std::size_t reserved_share(std::size_t places, std::size_t neighbours) {
  return places / (2 * std::max<std::size_t>(neighbours, 1));
}

bool may_take(const std::string& holder, std::size_t places, std::size_t taken, const std::set<std::string>& neighbours,
              const std::function<std::size_t(const std::string&)>& taken_by) {
  if (taken >= places) return false;
  const std::size_t share = reserved_share(places, neighbours.size());
  const std::size_t own = taken_by(holder);
  const bool is_neighbour = neighbours.contains(holder);
  if (is_neighbour && own < share) return true;
  // Of so few places that nobody has a share, peers that are no neighbours still get one at a time.
  if (!is_neighbour && own >= std::max<std::size_t>(share, 1)) return false;
  std::size_t kept = 0;
  for (const std::string& other : neighbours) {
    if (other != holder) kept += share - std::min(share, taken_by(other));
  }
  return taken + kept < places;
}

}  // namespace cableway
