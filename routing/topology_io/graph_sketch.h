// An intermediate form of a topology: nodes and edges with text attributes, as the Graphviz and GraphML readers produce
// them.
//
// Supported attributes; others concern drawing only and are ignored:
//     of a node     name (default: its id), relay_port, draining; plugs and roots as "NAME=RATE_MBPS NAME=RATE_MBPS .."
//     of an edge    name, rate_mbps, latency_us, routed, draining, loss_percent, and for its two ends:
//                   from_interface, from_address, from_plug, from_root, to_interface, to_address, to_plug, to_root
//     of both       label: the name if none is given, provided it is valid and unique; only_expected: whether it is
//                   drawn as missing, so that it is not part of the topology
// They mean the same as in the topology file, and all are optional. Cables without a name get that of a topology file.
// If no cable has addresses, all ports are planned (port_plan.h).
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_GRAPH_SKETCH_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_GRAPH_SKETCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "routing/topology/disconnected.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// Exceeds the length of every valid value of a supported attribute.
inline constexpr std::size_t kMaxSketchTextBytes = 8192;

struct SketchText {
  std::string text;
  std::uint32_t line = 0;
};
using SketchAttributes = std::map<std::string, SketchText, std::less<>>;

struct SketchNode {
  std::string id;
  std::uint32_t line = 0;
  SketchAttributes attributes;
};

struct SketchCable {
  std::size_t from = 0;  // indices of GraphSketch's nodes
  std::size_t to = 0;
  std::uint32_t line = 0;
  SketchAttributes attributes;
};

// Every error is InvalidArgument and reads "FILE:LINE: what is wrong; what was expected".
class GraphSketch {
 public:
  // `file_name` is used only in messages.
  explicit GraphSketch(std::string_view file_name) : file_name_(file_name) {}

  absl::Status fault(std::uint32_t line, std::string_view message) const;

  // Sets or overwrites the attribute if it is supported. Refuses text that is longer than any valid value.
  absl::Status set(SketchAttributes& attributes, std::string_view key, std::string_view text, std::uint32_t line) const;

  std::optional<std::size_t> find_node(std::string_view id) const;

  // Return the index of the added node or cable. Refuse more than a topology may have. Precondition: no node has that
  // id; `from` and `to` are indices of nodes.
  absl::StatusOr<std::size_t> add_node(std::string_view id, std::uint32_t line, SketchAttributes attributes);
  absl::StatusOr<std::size_t> add_cable(std::size_t from, std::size_t to, std::uint32_t line,
                                        SketchAttributes attributes);

  SketchNode& node(std::size_t place) { return nodes_[place]; }
  SketchCable& cable(std::size_t place) { return cables_[place]; }

  // `graph_name` becomes the cluster's name if it is a valid one.
  absl::StatusOr<Topology> finish(std::string_view graph_name, Disconnected disconnected) const;

 private:
  // Without the nodes and cables that are only expected.
  absl::StatusOr<GraphSketch> without_expected() const;
  absl::StatusOr<Topology> finish_present(std::string_view graph_name, Disconnected disconnected) const;
  absl::StatusOr<std::vector<Node>> read_nodes() const;
  absl::StatusOr<std::vector<Cable>> read_cables() const;
  absl::Status check_addresses(const std::vector<Node>& nodes, const std::vector<Cable>& cables) const;
  absl::Status check_rules(const std::vector<Node>& nodes, const std::vector<Cable>& cables) const;
  absl::Status check_connected(const Topology& topology, const std::vector<Node>& nodes) const;

  std::string file_name_;
  std::vector<SketchNode> nodes_;
  std::vector<SketchCable> cables_;
  std::map<std::string, std::size_t, std::less<>> node_by_id_;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_GRAPH_SKETCH_H_
