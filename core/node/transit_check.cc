#include "core/node/transit_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/node/neighbour_cable.h"

namespace cableway {
namespace {

// Formats an address as hops do: a link-local one has the sending interface as its scope.
std::string written_on(const std::string& interface, routing::PortAddress address) {
  address.scope = address.is_ipv6_link_local() ? interface : "";
  return routing::to_text(address);
}

}  // namespace

TransitCheck::TransitCheck(const Neighbours& neighbours, const ToldPorts& told, const Clock& clock,
                           Duration hello_interval, const std::set<std::string>& draining)
    : neighbours_(neighbours), told_(told), clock_(clock), hello_interval_(hello_interval), draining_(draining) {}

absl::Status TransitCheck::check(const CircuitSetup& setup, const PathPlanner& planner,
                                 std::uint16_t relay_port) const {
  if (absl::Status status = check_own_drains(setup); !status.ok()) return status;
  absl::Status status = planner.check_transit(setup);
  const bool may_be_up = absl::IsNotFound(status) && !planner.drains(setup);
  if (!status.ok() && !(may_be_up && are_up(setup, relay_port))) return status;
  // That for a view ends at a node, at the port of its relay.
  const bool to_process = setup.next_is_last() && setup.purpose != SetupPurpose::kView;
  return check_told(setup.hops[setup.hop + 1U], to_process);
}

// Also of cables that the topology lacks.
absl::Status TransitCheck::check_own_drains(const CircuitSetup& setup) const {
  if (setup.purpose != SetupPurpose::kCircuit || setup.last_hop()) return absl::OkStatus();
  for (const std::string& cable : {setup.this_hop().cable, setup.hops[setup.hop + 1U].cable}) {
    if (!draining_.contains(cable)) continue;
    return absl::UnavailableError(absl::StrCat("node ", neighbours_.identity().name, ": cable ", cable, " drains"));
  }
  return absl::OkStatus();
}

// Precondition: the set-up came to this node, which is not its last.
bool TransitCheck::are_up(const CircuitSetup& setup, std::uint16_t relay_port) const {
  const Hop& arriving = setup.this_hop();
  const Hop& leaving = setup.hops[setup.hop + 1U];
  const auto arrives = [&](const Entry* entry) {
    const Neighbour& from = entry->second;
    return arriving == Hop{.cable = arriving.cable,
                           .from_address = written_on(from.interface, from.addresses.theirs),
                           .to_node = neighbours_.identity().name,
                           .to_address = written_on(from.interface, from.addresses.ours),
                           .to_port = relay_port};
  };
  const auto leaves = [&](const Entry* entry) {
    const Neighbour& to = entry->second;
    return leaving == Hop{.cable = leaving.cable,
                          .from_address = written_on(to.our_interface, to.addresses.ours),
                          .to_node = to.name,
                          .to_address = written_on(to.our_interface, to.addresses.theirs),
                          .to_port = leaving.to_port};
  };
  const std::vector<const Entry*> before = ends_of(arriving.cable, setup.this_hop_from());
  const std::vector<const Entry*> after = ends_of(leaving.cable, leaving.to_node);
  return std::any_of(before.begin(), before.end(), arrives) && std::any_of(after.begin(), after.end(), leaves);
}

// Uses announced ports, not the topology, which any node can flood.
absl::Status TransitCheck::check_told(const Hop& next, bool to_process) const {
  std::vector<NeighbourKey> adjacencies;
  for (const Entry* entry : ends_of(next.cable, next.to_node)) adjacencies.push_back(entry->first);
  if (adjacencies.empty()) {
    const routing::NodeId node = routing::node_id(neighbours_.identity().cluster, next.to_node);
    const std::optional<NeighbourKey> ended = told_.ended(node, next.cable);
    if (!ended.has_value()) {
      return absl::NotFoundError(absl::StrCat("node ", neighbours_.identity().name, " has no cable ", next.cable,
                                              " to node ", next.to_node, " now"));
    }
    adjacencies.push_back(*ended);
  }
  for (const NeighbourKey& adjacency : adjacencies) {
    absl::Status status = to_process ? check_process(adjacency, next) : check_relay(adjacency, next);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status TransitCheck::check_process(const NeighbourKey& adjacency, const Hop& next) const {
  if (told_.has_process(adjacency, next.to_port, clock_.now())) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat(refusal(next), ", which has not announced a process that accepts circuits there"));
}

absl::Status TransitCheck::check_relay(const NeighbourKey& adjacency, const Hop& next) const {
  const std::optional<std::uint16_t> relay = told_.relay_of(adjacency);
  if (!relay.has_value()) {
    return absl::NotFoundError(absl::StrCat(refusal(next), ", which has not announced its relay's port"));
  }
  if (*relay == next.to_port) return absl::OkStatus();
  if (*relay == 0) return absl::InvalidArgumentError(absl::StrCat(refusal(next), ", which relays nothing"));
  return absl::InvalidArgumentError(absl::StrCat(refusal(next), ", whose relay has TCP port ", *relay));
}

std::string TransitCheck::refusal(const Hop& next) const {
  return absl::StrCat("node ", neighbours_.identity().name, " does not connect to TCP port ", next.to_port, " of node ",
                      next.to_node);
}

// The neighbours that are up as the other end of this node's cable of that name. One that was not heard lately gives
// way to one that was: it is what is left of an interface that was made again. Where several are heard, on a switch,
// one claims the node and interface of another, and which one is true is not known: a port counts if all have announced
// it.
std::vector<const TransitCheck::Entry*> TransitCheck::ends_of(const std::string& cable,
                                                              const std::string& neighbour) const {
  const routing::NodeId node = routing::node_id(neighbours_.identity().cluster, neighbour);
  std::vector<const Entry*> ends;
  for (const Entry& each : neighbours_.all()) {
    const auto& [key, other] = each;
    if (!other.up || key.node != node || cable_name(neighbours_.identity().name, other) != cable) continue;
    ends.push_back(&each);
  }
  const auto is_silent = [&](const Entry* end) { return clock_.now() - end->second.last_heard >= 3 * hello_interval_; };
  if (!std::all_of(ends.begin(), ends.end(), is_silent)) std::erase_if(ends, is_silent);
  return ends;
}

}  // namespace cableway
