// The graph that routes are computed on: nodes joined by cables.
//
// A Topology is a value: immutable once made, safe to read from any thread, equal to every other topology with the
// same nodes and cables regardless of the order in which they were listed. create() puts them in canonical order:
//   - nodes by name, digits compared as numbers (n2 before n10); NodeIndex is the place in that order;
//   - the ends of a cable so that a.node < b.node;
//   - cables by (a.node, b.node, name); CableIndex is the place in that order.
// So every node with the same link-state database uses the same indices and computes the same routes.
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
inline constexpr std::size_t kMaxPlugLength = 63;
inline constexpr std::uint64_t kMaxRateMbps = 10'000'000;
inline constexpr double kMaxLatencyUs = 1'000'000;

inline constexpr char kDefaultCluster[] = "cableway";
inline constexpr std::uint16_t kDefaultRelayPort = 7470;
inline constexpr std::uint64_t kDefaultRateMbps = 10'000;
inline constexpr double kDefaultLatencyUs = 1;

struct NodeIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(const NodeIndex&, const NodeIndex&) = default;
};

struct CableIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(const CableIndex&, const CableIndex&) = default;
};

struct Node {
  std::string name;                              // [A-Za-z0-9._-]{1,63}, unique
  std::uint16_t relay_port = kDefaultRelayPort;  // TCP port on which the node accepts circuits, not 0
  bool draining = false;                         // relays nothing: a path may start or end here, none crosses the node
  friend bool operator==(const Node&, const Node&) = default;
};

// One end of a cable. A port may end several cables only if its interface is named (a switch).
struct Port {
  NodeIndex node;
  std::string interface;  // Linux interface name, or empty if unknown
  std::string address;    // IPv4 or IPv6 literal; a link-local one may carry %scope
  // The connector that the port is part of, [A-Za-z0-9._:-]{1,63}, unique on the node; empty: its own connector. Ports
  // of one plug fail together and share the rate of the fastest of them, as the PCIe twins of one split port do. The
  // legs of a breakout cable do not: each is its own connector. See physical_cable.h.
  std::string plug = {};
  friend bool operator==(const Port&, const Port&) = default;
};

struct Cable {
  std::string name;  // [A-Za-z0-9._-]{1,160}, unique
  Port a;
  Port b;
  std::uint64_t rate_mbps = kDefaultRateMbps;  // per direction, 1 to kMaxRateMbps
  double latency_us = kDefaultLatencyUs;       // one way, 0 to kMaxLatencyUs
  bool routed = false;                         // the two addresses reach each other through IP routers
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
  std::span<const Cable> cables() const { return cables_; }
  std::size_t node_count() const { return nodes_.size(); }
  std::size_t cable_count() const { return cables_.size(); }

  // Precondition of everything below that takes an index: the index is one of this topology's.
  const Node& node(NodeIndex index) const { return nodes_[index.value]; }
  const Cable& cable(CableIndex index) const { return cables_[index.value]; }
  // latency_us in whole nanoseconds, so that sums are exact.
  std::uint64_t latency_ns(CableIndex index) const { return latency_ns_[index.value]; }

  std::optional<NodeIndex> find_node(std::string_view name) const;
  std::optional<CableIndex> find_cable(std::string_view name) const;

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
  void index_adjacencies();
  void index_cable_names();

  std::string cluster_;
  std::vector<Node> nodes_;
  std::vector<Cable> cables_;
  std::vector<std::uint64_t> latency_ns_;  // by cable
  std::vector<CableIndex> cables_by_name_;
  std::vector<Adjacency> adjacencies_;          // of node 0, then of node 1, ..
  std::vector<std::uint32_t> adjacency_begin_;  // node_count() + 1 offsets into adjacencies_
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_TOPOLOGY_H_
