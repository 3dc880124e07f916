// The graph that routes are computed on: nodes joined by cables.
//
// A Topology is a value: immutable once made, safe to read from any thread, equal to every other topology with the
// same nodes and cables regardless of the order in which they were listed. create() puts them in canonical order:
//   - nodes by name, digits compared as numbers (n2 before n10); NodeIndex is the place in that order;
//   - the ends of a cable so that a.node < b.node;
//   - cables by (a.node, b.node, name); CableIndex is the place in that order.
// Cables that drain, and those that lose packets and are not needed (lossy_cables.h), are listed by themselves: paths,
// capacities and everything else that is computed know the others only. So every node with the same link-state database
// uses the same indices and computes the same routes.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_TOPOLOGY_H_
#define CABLEWAY_ROUTING_TOPOLOGY_TOPOLOGY_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/text/node_name.h"

namespace cableway::routing {

// Bounds that limit the memory of a topology and of everything computed from it.
inline constexpr std::size_t kMaxNodes = 4096;
inline constexpr std::size_t kMaxCables = 65536;
inline constexpr std::size_t kMaxCableNameLength = 160;  // a discovered name has two nodes and their interfaces
inline constexpr std::size_t kMaxPlugLength = 63;        // of plugs and roots
inline constexpr std::size_t kMaxSharedParts = 64;       // plugs, or roots, of one node
inline constexpr std::uint64_t kMaxRateMbps = 10'000'000;
inline constexpr double kMaxLatencyUs = 1'000'000;
inline constexpr unsigned kMaxLossPercent = 100;

inline constexpr char kDefaultCluster[] = "cableway";
inline constexpr std::uint16_t kDefaultRelayPort = 7470;
inline constexpr std::uint64_t kDefaultRateMbps = 10'000;
inline constexpr std::uint64_t kLatencyCostStepUs = 10'000;

struct NodeIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(const NodeIndex&, const NodeIndex&) = default;
};

struct CableIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(const CableIndex&, const CableIndex&) = default;
};

// Part of a node that several of its ports may share: a plug (a physical connector) or a root (a PCIe link).
struct SharedPart {
  std::string name;             // [A-Za-z0-9._:-]{1,63}, unique among the node's plugs, or among its roots
  std::uint64_t rate_mbps = 0;  // per direction, 1 to kMaxRateMbps
  friend auto operator<=>(const SharedPart&, const SharedPart&) = default;
};

// The rate that `parts` lists for `name`; nullopt: none.
std::optional<std::uint64_t> stated_rate_mbps(const std::vector<SharedPart>& parts, std::string_view name);

struct Node {
  std::string name;                              // [A-Za-z0-9._-]{1,63}, unique
  std::uint16_t relay_port = kDefaultRelayPort;  // TCP port on which the node accepts circuits, not 0
  bool draining = false;                         // relays nothing: a path may start or end here, none crosses the node
  // Plugs and roots whose rates are known, sorted by name in a Topology. One that is not listed has the rate of the
  // fastest of its cables.
  std::vector<SharedPart> plugs = {};
  std::vector<SharedPart> roots = {};
  friend bool operator==(const Node&, const Node&) = default;
};

// One end of a cable. A port may end several cables only if its interface is named (a switch).
struct Port {
  NodeIndex node;
  std::string interface;  // Linux interface name, or empty if unknown
  std::string address;    // IPv4 or IPv6 literal; a link-local one may carry %scope
  // The connector that the port is part of, [A-Za-z0-9._:-]{1,63}, unique on the node; empty: its own connector. Ports
  // of one plug fail together and share its rate, as the PCIe twins of one split port do. The legs of a breakout cable
  // do not: each is its own connector. See physical_cable.h.
  std::string plug = {};
  // The PCIe link behind the port, named likewise; empty: unknown, or none that limits it. Ports of one root share its
  // rate, whatever their plugs.
  std::string root = {};
  friend bool operator==(const Port&, const Port&) = default;
};

struct Cable {
  std::string name;  // [A-Za-z0-9._-]{1,160}, unique
  Port a;
  Port b;
  std::uint64_t rate_mbps = kDefaultRateMbps;  // per direction, 1 to kMaxRateMbps
  std::optional<double> latency_us = {};       // one way, 0 to kMaxLatencyUs; empty: not known
  bool routed = false;                         // the two addresses reach each other through IP routers
  bool draining = false;                       // plugged in, but no path is to lead over it
  // Percentage of packets lost, in the worse direction; 0: negligible. Lossy cables are used last (lossy_cables.h).
  std::uint8_t loss_percent = 0;
  friend bool operator==(const Cable&, const Cable&) = default;
};

// One cable as seen from one of its ends.
struct Adjacency {
  NodeIndex neighbour;
  CableIndex cable;
  friend auto operator<=>(const Adjacency&, const Adjacency&) = default;
};

class Topology {
 public:
  // `nodes` and the node indices inside `cables` are in the caller's order; the result is in canonical order (above).
  // The rules are those of topology_check.h; InvalidArgument names the node or cable at fault, what is wrong and what
  // was expected. The topology may be disconnected (see components()); the topology file parser refuses that.
  static absl::StatusOr<Topology> create(std::string cluster, std::vector<Node> nodes, std::vector<Cable> cables);

  const std::string& cluster() const { return cluster_; }
  std::span<const Node> nodes() const { return nodes_; }
  // Those that paths may lead over.
  std::span<const Cable> cables() const { return std::span(plugged_cables_).first(cable_count_); }
  // The others, in the same order: those that drain, and those that lose packets and are not needed. They have no
  // index.
  std::span<const Cable> unused_cables() const { return std::span(plugged_cables_).subspan(cable_count_); }
  // Both, the unused ones last.
  std::span<const Cable> plugged_cables() const { return plugged_cables_; }
  std::size_t node_count() const { return nodes_.size(); }
  std::size_t cable_count() const { return cable_count_; }

  // Precondition of everything below that takes an index: the index is one of this topology's.
  const Node& node(NodeIndex index) const { return nodes_[index.value]; }
  const Cable& cable(CableIndex index) const { return plugged_cables_[index.value]; }
  // What the cable's latency adds to the cost of a path: rounded down to kLatencyCostStepUs, in ns; 0 if it is not
  // known. Measured latencies of equal cables differ, on busy or emulated hosts by milliseconds: a finer cost would
  // leave all but one of several equal paths idle, and change routes with every measurement.
  std::uint64_t latency_cost_ns(CableIndex index) const { return latency_cost_ns_[index.value]; }

  std::optional<NodeIndex> find_node(std::string_view name) const;
  std::optional<CableIndex> find_cable(std::string_view name) const;
  // Among all that are plugged in; null: none.
  const Cable* find_plugged(std::string_view name) const;

  // Sorted by neighbour, then cable.
  std::span<const Adjacency> adjacencies(NodeIndex node) const;
  // The part of adjacencies(a) that leads to b; empty if they share no cable.
  std::span<const Adjacency> cables_between(NodeIndex a, NodeIndex b) const;

  // Precondition: `node` is an end of `cable`.
  const Port& port_at(CableIndex cable, NodeIndex node) const;
  const Port& port_opposite(CableIndex cable, NodeIndex node) const;
  NodeIndex neighbour_over(CableIndex cable, NodeIndex node) const { return port_opposite(cable, node).node; }

  // The connected components, each sorted, in the order of their first nodes. One component: connected.
  std::vector<std::vector<NodeIndex>> components() const;

  friend bool operator==(const Topology&, const Topology&) = default;

 private:
  Topology() = default;
  void sort_out_unused(std::vector<Cable> cables);
  void index_adjacencies();
  void index_cable_names();

  std::string cluster_;
  std::vector<Node> nodes_;
  std::vector<Cable> plugged_cables_;
  std::size_t cable_count_ = 0;                 // of them, those in use
  std::vector<std::uint64_t> latency_cost_ns_;  // by cable
  std::vector<CableIndex> cables_by_name_;
  std::vector<Adjacency> adjacencies_;          // of node 0, then of node 1, ..
  std::vector<std::uint32_t> adjacency_begin_;  // node_count() + 1 offsets into adjacencies_
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_TOPOLOGY_H_
