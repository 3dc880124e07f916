#include "core/discovery/port_pairing.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/discovery/cable_addresses.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

// A possible pair. The smallest is chosen first.
struct Candidate {
  std::size_t step = 0;  // of pair_ports()
  std::optional<AddressRank> rank;
  // Equal for the pairs (i, k) and (k, i) only, which have no port in common: so both ends choose the same.
  std::pair<std::size_t, std::size_t> distance_and_first;
  PortPair pair;
  friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

using Places = std::map<PortId, std::pair<std::size_t, const WirePort*>>;  // in the order of the interfaces' names

// Only ports that are in a pair of `heard`, which is the same at both ends.
Places in_order(const std::vector<WirePort>& ports, const std::vector<PortPair>& heard, PortId PortPair::*end) {
  std::vector<const WirePort*> sorted;
  for (const WirePort& port : ports) {
    const bool hears =
        std::any_of(heard.begin(), heard.end(), [&](const PortPair& pair) { return pair.*end == port.port; });
    if (hears) sorted.push_back(&port);
  }
  std::sort(sorted.begin(), sorted.end(), [](const WirePort* left, const WirePort* right) {
    if (left->interface != right->interface) return routing::natural_less(left->interface, right->interface);
    return left->port < right->port;
  });
  Places places;
  for (const WirePort* port : sorted) places.try_emplace(port->port, places.size(), port);
  return places;
}

std::vector<Candidate> candidates(const Wire& wire) {
  const Places ours = in_order(wire.ours, wire.heard, &PortPair::ours);
  const Places theirs = in_order(wire.theirs, wire.heard, &PortPair::theirs);
  std::vector<Candidate> found;
  for (const PortPair& pair : wire.heard) {
    const auto our = ours.find(pair.ours);
    const auto their = theirs.find(pair.theirs);
    if (our == ours.end() || their == theirs.end()) continue;
    const auto [i, port] = our->second;
    const auto [k, other] = their->second;
    const bool is_up = std::find(wire.up.begin(), wire.up.end(), pair) != wire.up.end();
    Candidate candidate{is_up ? 2U : 3U, best_rank(port->addresses, other->addresses), {}, pair};
    if (candidate.rank) candidate.step = 1;
    candidate.distance_and_first = {i > k ? i - k : k - i, std::min(i, k)};
    found.push_back(std::move(candidate));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<PortPair> pair_ports(const Wire& wire) {
  std::set<PortId> ours;
  std::set<PortId> theirs;
  std::vector<PortPair> pairs;
  for (const Candidate& candidate : candidates(wire)) {
    if (ours.contains(candidate.pair.ours) || theirs.contains(candidate.pair.theirs)) continue;
    ours.insert(candidate.pair.ours);
    theirs.insert(candidate.pair.theirs);
    pairs.push_back(candidate.pair);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace cableway
