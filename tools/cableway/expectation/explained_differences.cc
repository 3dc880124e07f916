#include "tools/cableway/expectation/explained_differences.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace cableway::cli {
namespace {

using routing::Cable;
using routing::NodeIndex;
using routing::Topology;

class Explanation {
 public:
  Explanation(const Comparison& comparison, const Topology& expected, const OwnFaults& faults)
      : expected_(expected),
        faults_(faults),
        by_interface_(comparison.by_interface),
        here_(expected.find_node(faults.node)) {
    for (const Difference& each : comparison.differences) {
      if (each.kind == DifferenceKind::kNodeMissing) missing_.insert(each.nodes.begin(), each.nodes.end());
    }
    if (here_) reach(*here_);
  }

  bool explains(const Difference& difference) const {
    if (!here_) return false;
    const auto is_faulty_cable = [&](const std::string& name) {
      const Cable* const cable = expected_.find_plugged(name);
      return cable != nullptr && is_faulty(*cable);
    };
    switch (difference.kind) {
      case DifferenceKind::kNodeMissing:
        return std::all_of(difference.nodes.begin(), difference.nodes.end(), [&](const std::string& node) {
          return faults_.beyond.contains(node) || !reached_.contains(node);
        });
      case DifferenceKind::kCableMissing:
      case DifferenceKind::kFunctionsDiffer:
        return !difference.expected_cables.empty() &&
               std::all_of(difference.expected_cables.begin(), difference.expected_cables.end(), is_faulty_cable);
      default:
        return false;
    }
  }

 private:
  const std::string& name(NodeIndex node) const { return expected_.node(node).name; }

  // Whether it is a cable of this node, at a port that has a finding.
  bool is_faulty(const Cable& cable) const {
    if (cable.a.node != *here_ && cable.b.node != *here_) return false;
    const bool is_a = cable.a.node == *here_;
    const routing::Port& own = is_a ? cable.a : cable.b;
    if (by_interface_) return faults_.ports.contains(own.interface);
    return faults_.beyond.contains(name((is_a ? cable.b : cable.a).node));
  }

  // The nodes on expected paths that begin at a port without a finding and pass no node that is missing.
  void reach(NodeIndex first) {
    std::vector<NodeIndex> waiting{first};
    while (!waiting.empty()) {
      const NodeIndex from = waiting.back();
      waiting.pop_back();
      if (!reached_.insert(name(from)).second || missing_.contains(name(from))) continue;
      for (const Cable& cable : expected_.plugged_cables()) {
        if (is_faulty(cable)) continue;
        if (cable.a.node == from) waiting.push_back(cable.b.node);
        if (cable.b.node == from) waiting.push_back(cable.a.node);
      }
    }
  }

  const Topology& expected_;
  const OwnFaults& faults_;
  const bool by_interface_;
  const std::optional<NodeIndex> here_;
  std::set<std::string> missing_;
  std::set<std::string> reached_;
};

}  // namespace

Comparison without_explained(Comparison comparison, const Topology& expected, const OwnFaults& faults) {
  const Explanation explanation(comparison, expected, faults);
  std::erase_if(comparison.differences, [&](const Difference& each) { return explanation.explains(each); });
  return comparison;
}

std::set<std::string> miswired_ports(const Comparison& comparison, const Topology& found, const std::string& node) {
  std::set<std::string> ports;
  for (const Difference& each : comparison.differences) {
    if (each.kind != DifferenceKind::kCablesSwapped && each.kind != DifferenceKind::kCableElsewhere) continue;
    for (const std::string& name : each.found_cables) {
      const Cable* const cable = found.find_plugged(name);
      if (cable == nullptr) continue;
      if (found.node(cable->a.node).name == node) ports.insert(cable->a.interface);
      if (found.node(cable->b.node).name == node) ports.insert(cable->b.interface);
    }
  }
  return ports;
}

}  // namespace cableway::cli
