#include "core/discovery/port_pairing.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/discovery/cable_addresses.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

// The ports that no pair has yet, and the pairs.
class Pairing {
 public:
  Pairing(std::span<const WirePort> ours, std::span<const WirePort> theirs)
      : ours_(in_order(ours)), theirs_(in_order(theirs)) {}

  void by_subnet();
  void as_up(std::span<const PortPair> up);
  void by_name();
  std::vector<PortPair> pairs() const { return {pairs_.begin(), pairs_.end()}; }

 private:
  using Ports = std::vector<const WirePort*>;

  static Ports in_order(std::span<const WirePort> ports) {
    Ports sorted;
    for (const WirePort& port : ports) sorted.push_back(&port);
    std::sort(sorted.begin(), sorted.end(), [](const WirePort* left, const WirePort* right) {
      if (left->interface != right->interface) return routing::natural_less(left->interface, right->interface);
      return left->port < right->port;
    });
    return sorted;
  }
  static auto find(Ports& ports, PortId id) {
    return std::find_if(ports.begin(), ports.end(), [id](const WirePort* each) { return each->port == id; });
  }
  // Unless one of them has a partner already, or is not there.
  void pair(PortId ours, PortId theirs) {
    const auto our = find(ours_, ours);
    const auto their = find(theirs_, theirs);
    if (our == ours_.end() || their == theirs_.end()) return;
    pairs_.insert({ours, theirs});
    ours_.erase(our);
    theirs_.erase(their);
  }

  Ports ours_;
  Ports theirs_;
  std::set<PortPair> pairs_;
};

void Pairing::by_subnet() {
  std::vector<std::pair<AddressRank, PortPair>> fitting;
  for (const WirePort* ours : ours_) {
    for (const WirePort* theirs : theirs_) {
      const std::optional<AddressRank> rank = best_rank(ours->addresses, theirs->addresses);
      if (rank) fitting.push_back({*rank, {ours->port, theirs->port}});
    }
  }
  std::sort(fitting.begin(), fitting.end());
  for (const auto& [rank, each] : fitting) pair(each.ours, each.theirs);
}

void Pairing::as_up(std::span<const PortPair> up) {
  for (const PortPair& each : up) pair(each.ours, each.theirs);
}

void Pairing::by_name() {
  while (!ours_.empty() && !theirs_.empty()) pair(ours_.front()->port, theirs_.front()->port);
}

}  // namespace

std::vector<PortPair> pair_ports(std::span<const WirePort> ours, std::span<const WirePort> theirs,
                                 std::span<const PortPair> up) {
  Pairing pairing(ours, theirs);
  pairing.by_subnet();
  pairing.as_up(up);
  pairing.by_name();
  return pairing.pairs();
}

}  // namespace cableway
