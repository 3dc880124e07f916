#include "routing/link_state/agreed_topology.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/link_state/both_ways.h"
#include "routing/topology/cable_name.h"

namespace cableway::routing {
namespace {

// One end of an agreed cable, in the order in which both ends see it.
struct End {
  const Advertisement* node = nullptr;
  const AdvertisedPort* port = nullptr;
  const AdvertisedAdjacency* adjacency = nullptr;
};

class Agreement {
 public:
  Agreement(const std::string& cluster, const LinkStateDatabase& database) : cluster_(cluster), database_(database) {}

  absl::StatusOr<AgreedTopology> reach() {
    for (const auto& [origin, entry] : database_.entries()) {
      const Advertisement& advertisement = *entry.advertisement;
      indices_[origin] = NodeIndex{static_cast<std::uint32_t>(nodes_.size())};
      Node node;
      node.name = advertisement.name;
      node.relay_port = advertisement.relay_port;
      node.draining = advertisement.draining;
      add_parts(advertisement, node);
      nodes_.push_back(std::move(node));
    }
    for (const auto& [origin, entry] : database_.entries()) add_cables_of(*entry.advertisement);
    // Of no use any more, and as large as what follows.
    owners_ = {};
    joined_ = {};
    names_ = {};
    absl::StatusOr<Topology> topology = Topology::create(cluster_, std::move(nodes_), std::move(cables_));
    if (!topology.ok()) return topology.status();
    return AgreedTopology{*std::move(topology), std::move(left_out_)};
  }

 private:
  static void add_part(std::vector<SharedPart>& parts, const std::string& name, std::uint64_t rate_mbps) {
    if (name.empty() || rate_mbps == 0) return;
    const auto known =
        std::find_if(parts.begin(), parts.end(), [&](const SharedPart& each) { return each.name == name; });
    if (known == parts.end()) {
      parts.push_back({name, rate_mbps});
    } else {
      known->rate_mbps = std::max(known->rate_mbps, rate_mbps);
    }
  }

  static void add_parts(const Advertisement& advertisement, Node& node) {
    for (const AdvertisedPort& port : advertisement.ports) {
      add_part(node.plugs, port.plug, port.link_mbps);
      add_part(node.roots, port.root, port.root_mbps);
    }
  }

  static std::optional<double> latency_us(const AdvertisedAdjacency& a, const AdvertisedAdjacency& b) {
    const std::uint32_t least = std::min(a.latency_ns, b.latency_ns);
    const std::uint32_t known = least > 0 ? least : std::max(a.latency_ns, b.latency_ns);
    if (known == 0) return std::nullopt;
    return std::min(known / 1000.0, kMaxLatencyUs);
  }

  void add_cables_of(const Advertisement& node) {
    for (const AdvertisedAdjacency& adjacency : node.adjacencies) {
      // Seen once, from the end with the lower id.
      if (node.origin < adjacency.neighbour) add_cable(node, adjacency);
    }
  }

  void add_cable(const Advertisement& node, const AdvertisedAdjacency& adjacency) {
    const Advertisement* neighbour = database_.find(adjacency.neighbour);
    if (neighbour == nullptr) return;
    const AdvertisedAdjacency* answer = find_answer(node, adjacency, *neighbour);
    if (answer == nullptr) return;
    const End a{&node, find_port(node, adjacency.port), &adjacency};
    const End b{neighbour, find_port(*neighbour, answer->port), answer};
    if (!joined_.insert({node.origin, adjacency.port, neighbour->origin, answer->port}).second) return;
    std::string name = discovered_cable_name(a.node->name, a.port->interface, b.node->name, b.port->interface);
    if (std::optional<std::string> fault = find_fault(name, a, b)) {
      left_out_.push_back(absl::StrCat("cable ", name, ": ", *fault));
      return;
    }
    Cable cable;
    cable.name = name;
    cable.a = port_of(a);
    cable.b = port_of(b);
    cable.rate_mbps = std::min(rate_mbps(a), rate_mbps(b));
    cable.latency_us = latency_us(*a.adjacency, *b.adjacency);
    cable.draining = a.adjacency->draining || b.adjacency->draining;
    cable.loss_percent = std::max(a.adjacency->loss_percent, b.adjacency->loss_percent);
    names_.insert(std::move(name));
    cables_.push_back(std::move(cable));
  }

  // Rejects every cable that Topology::create() would refuse, so that no single node's advertisement can leave the
  // other nodes without a topology.
  std::optional<std::string> find_fault(const std::string& name, const End& a, const End& b) {
    if (cables_.size() == kMaxCables) return absl::StrCat("the topology already has ", kMaxCables, " cables");
    if (names_.contains(name)) return "another cable has the same name: rename one of its interfaces";
    // Both happen while an address changes, too: only one end has advertised the new one yet.
    if (std::optional<std::string> fault = find_false_address(a, b)) return fault;
    if (std::optional<std::string> fault = find_false_address(b, a)) return fault;
    if (a.adjacency->address.is_ipv6 != b.adjacency->address.is_ipv6) return "its ends use different address families";
    if (std::optional<std::string> fault = claim_address(a, b)) return fault;
    return claim_address(b, a);
  }

  static std::optional<std::string> find_false_address(const End& end, const End& other) {
    if (has_heard_address(*end.adjacency, *other.adjacency)) return std::nullopt;
    return absl::StrCat("node ", end.node->name, " advertises address ", to_text(end.adjacency->address),
                        " there, but node ", other.node->name, " hears ", to_text(*other.adjacency->neighbour_address),
                        " in its hellos (for a moment while an address changes; else node ", end.node->name,
                        " is wrong)");
  }

  // Both nodes of a cable know the addresses of its ends; each may know one port only by an address. Nodes elsewhere,
  // of which anyone could claim anything, do not matter (topology_check.h). A node accepts no second neighbour with an
  // address that it knows (core/discovery), and says which address it has heard, so only the cables of a node that does
  // not keep to that are left out here.
  std::optional<std::string> claim_address(const End& end, const End& other) {
    const AddressOwner owner{end.node->origin, end.port->id};
    const PortAddress& address = end.adjacency->address;
    for (const NodeId witness : {end.node->origin, other.node->origin}) {
      // Link-local addresses are unique on their own cable only.
      if (address.is_ipv6_link_local() && witness != end.node->origin) continue;
      const auto [claim, is_new] = owners_.try_emplace({witness, address}, owner);
      if (is_new || claim->second == owner) continue;
      return absl::StrCat("address ", to_text(address), " of node ", end.node->name, " is also used by node ",
                          database_.find(claim->second.node)->name, ", and node ", database_.find(witness)->name,
                          " has cables to both: change one of them");
    }
    return std::nullopt;
  }

  // A port may claim more than the link or root that it advertises, and Topology::create() would refuse the cable.
  std::uint64_t rate_mbps(const End& end) const {
    const std::uint64_t own = end.port->rate_mbps;
    const Node& node = nodes_[indices_.at(end.node->origin).value];
    return std::min({own, stated_rate_mbps(node.plugs, end.port->plug).value_or(own),
                     stated_rate_mbps(node.roots, end.port->root).value_or(own)});
  }

  Port port_of(const End& end) const {
    Port port;
    port.node = indices_.at(end.node->origin);
    port.interface = end.port->interface;
    port.plug = end.port->plug;
    port.root = end.port->root;
    port.address = to_text(end.adjacency->address);
    if (end.adjacency->address.is_ipv6_link_local()) absl::StrAppend(&port.address, "%", port.interface);
    return port;
  }

  struct AddressOwner {
    NodeId node;
    std::uint32_t port = 0;
    friend bool operator==(const AddressOwner&, const AddressOwner&) = default;
  };

  const std::string& cluster_;
  const LinkStateDatabase& database_;
  std::map<NodeId, NodeIndex> indices_;
  std::vector<Node> nodes_;
  std::vector<Cable> cables_;
  std::vector<std::string> left_out_;
  std::set<std::string> names_;
  std::set<std::tuple<NodeId, std::uint32_t, NodeId, std::uint32_t>> joined_;
  std::map<std::pair<NodeId, PortAddress>, AddressOwner> owners_;  // by the node that knows the address
};

}  // namespace

absl::StatusOr<AgreedTopology> agreed_topology(const std::string& cluster, const LinkStateDatabase& database) {
  return Agreement(cluster, database).reach();
}

}  // namespace cableway::routing
