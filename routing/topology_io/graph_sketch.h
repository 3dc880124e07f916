// A drawn graph on its way to a topology: nodes and edges with attributes, all of them text, as the Graphviz and
// GraphML readers find them.
//
// Attributes that count; any other is for whoever draws, and ignored:
//     of a node     name (else its id), relay_port, draining
//     of an edge    name, rate_mbps, latency_us, routed, and of its two ends from_interface, from_address, from_plug,
//                   to_interface, to_address, to_plug
//     of both       label: the name where there is none, if it is a valid name that nothing else has
// They mean what they mean in the topology file; none is needed. Cables without a name get that of a topology file.
// Where no cable has addresses, all ports are planned (port_plan.h).
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

// More than any attribute that counts may have.
inline constexpr std::size_t kMaxSketchTextBytes = 256;

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
  std::size_t from = 0;  // places in GraphSketch's nodes
  std::size_t to = 0;
  std::uint32_t line = 0;
  SketchAttributes attributes;
};

// Every error is InvalidArgument and reads "FILE:LINE: what is wrong; what was expected".
class GraphSketch {
 public:
  // `file_name` only appears in messages.
  explicit GraphSketch(std::string_view file_name) : file_name_(file_name) {}

  absl::Status fault(std::uint32_t line, std::string_view message) const;

  // Puts the attribute in, over one of the same name, if it counts. Refuses text that is longer than any that is valid.
  absl::Status set(SketchAttributes& attributes, std::string_view key, std::string_view text, std::uint32_t line) const;

  std::optional<std::size_t> find_node(std::string_view id) const;

  // The places of what was added. Refuses more than a topology may have. Precondition: no node has that id; `from` and
  // `to` are places of nodes.
  absl::StatusOr<std::size_t> add_node(std::string_view id, std::uint32_t line, SketchAttributes attributes);
  absl::StatusOr<std::size_t> add_cable(std::size_t from, std::size_t to, std::uint32_t line,
                                        SketchAttributes attributes);

  SketchNode& node(std::size_t place) { return nodes_[place]; }
  SketchCable& cable(std::size_t place) { return cables_[place]; }

  // `graph_name` is the cluster's name where it can be one.
  absl::StatusOr<Topology> finish(std::string_view graph_name, Disconnected disconnected) const;

 private:
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
