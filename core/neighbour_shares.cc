#include "core/neighbour_shares.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

using Held = std::initializer_list<const HeldPlaces*>;

std::size_t taken_by(const ShareHolder& holder, Held held) {
  std::size_t taken = 0;
  for (const HeldPlaces* places : held) taken += places->of(holder);
  return taken;
}

std::size_t taken_at(const std::string& port, Held held) {
  std::size_t taken = 0;
  for (const HeldPlaces* places : held) taken += places->at(port);
  return taken;
}

std::map<std::string, std::size_t> count_at_ports(const std::set<ShareHolder>& neighbours) {
  std::map<std::string, std::size_t> ports;
  for (const ShareHolder& each : neighbours) ++ports[each.port];
  return ports;
}

// What is reserved for others than `holder` and not taken by them. `share` is a port's. What other ports have left of
// theirs counts whole; at the holder's own port only what each other neighbour has left of its part.
std::size_t kept_from(const ShareHolder& holder, std::size_t share, const std::set<ShareHolder>& neighbours,
                      const std::map<std::string, std::size_t>& ports, Held held) {
  std::size_t kept = 0;
  auto neighbour = neighbours.begin();  // sorted by port, as `ports` are
  for (const auto& [port, count] : ports) {
    const std::size_t part = share / count;
    std::size_t for_each = 0;
    for (; neighbour != neighbours.end() && neighbour->port == port; ++neighbour) {
      if (*neighbour != holder) for_each += part - std::min(part, taken_by(*neighbour, held));
    }
    const std::size_t for_port = port == holder.port ? 0 : share - std::min(share, taken_at(port, held));
    kept += std::max(for_each, for_port);
  }
  return kept;
}

template <typename Key>
void count_down(std::map<Key, std::size_t>& counts, const Key& key) {
  const auto found = counts.find(key);
  if (--found->second == 0) counts.erase(found);
}

template <typename Key>
std::size_t count_of(const std::map<Key, std::size_t>& counts, const Key& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

std::string share_holder_text(const ShareHolder& holder) {
  return holder.neighbour.empty() ? "addresses that belong to no neighbour" : absl::StrCat("node ", holder.neighbour);
}

HeldPlaces::Place::Place(HeldPlaces& of, ShareHolder holder) : of_(&of), holder_(std::move(holder)) {
  ++of_->of_[holder_];
  ++of_->at_[holder_.port];
  ++of_->all_;
}

void HeldPlaces::give_back(const ShareHolder& holder) {
  count_down(of_, holder);
  count_down(at_, holder.port);
  --all_;
}

std::size_t HeldPlaces::of(const ShareHolder& holder) const {
  return count_of(of_, holder);
}

std::size_t HeldPlaces::at(const std::string& port) const {
  return count_of(at_, port);
}

const ShareHolder& HeldPlaces::largest() const {
  const auto less = [](const auto& left, const auto& right) { return left.second < right.second; };
  const std::string& port = std::max_element(at_.begin(), at_.end(), less)->first;
  const auto begin = of_.lower_bound({port, ""});
  const auto end = std::find_if(begin, of_.end(), [&](const auto& each) { return each.first.port != port; });
  return std::max_element(begin, end, less)->first;
}

std::size_t reserved_share(std::size_t places, std::size_t ports) {
  return places / (2 * std::max<std::size_t>(ports, 1));
}

bool may_take(const ShareHolder& holder, std::size_t places, std::size_t taken, const std::set<ShareHolder>& neighbours,
              std::initializer_list<const HeldPlaces*> held) {
  if (taken >= places) return false;
  const std::map<std::string, std::size_t> ports = count_at_ports(neighbours);
  const std::size_t share = reserved_share(places, ports.size());
  const std::size_t own = taken_by(holder, held);
  if (neighbours.contains(holder)) {
    // The second condition is for names that come and go: those that are gone have taken the port's places, too.
    if (own < share / ports.at(holder.port) && taken_at(holder.port, held) < share) return true;
  } else if (own >= std::max<std::size_t>(share, 1)) {
    // Of so few places that nobody has a share, peers that are no neighbours still get one at a time.
    return false;
  }
  return taken + kept_from(holder, share, neighbours, ports, held) < places;
}

}  // namespace cableway
