// The target of `cableway drain NAME`: the node here, or one of its cables; with --check any node or cable.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DRAIN_DRAIN_TARGET_H_
#define CABLEWAY_TOOLS_CABLEWAY_DRAIN_DRAIN_TARGET_H_

#include <string>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"

namespace cableway::cli {

struct DrainTarget {
  std::string node;            // the node here, if `is_here`
  std::string cable = {};      // of it, by its name; "": the node itself
  bool drains = false;         // already, by either end
  std::string interface = {};  // of the cable, at the node
  std::string neighbour = {};  // the node at the cable's other end
  bool is_here = true;
  std::string shown = {};  // the cable in messages: its short name, and its full one

  bool is_cable() const { return !cable.empty(); }
};

// "node n0", "cable n0-n1 (n0.eth1-n1.eth2)".
std::string describe(const DrainTarget& target);

// `name`: of the node `here`, of one of its cables (in full or short, routing/topology/short_cable_names.h), or of an
// interface that ends one cable. InvalidArgument: another node or a cable of others, with where to run the command;
// several cables end at the interface or have that short name; or an unknown name.
absl::StatusOr<DrainTarget> find_drain_target(const routing::Topology& topology, const std::string& here,
                                              const std::string& name);

// Looks for `name` here first, then among all nodes and cables; `is_here` is then false.
absl::StatusOr<DrainTarget> find_checked_target(const routing::Topology& topology, const std::string& here,
                                                const std::string& name);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DRAIN_DRAIN_TARGET_H_
