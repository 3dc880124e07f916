#include "sim/flow_model/cable_resources.h"

#include <optional>

namespace cableway::sim {
namespace {

constexpr ResourceIndex kNone = 0xffffffff;

// The resources that cables share, numbered after those of the cables.
class SharedResources {
 public:
  SharedResources(const routing::PhysicalCables& physical, std::vector<double>& capacity) : physical_(physical) {
    wire_.reserve(physical.cables.size());
    for (const routing::PhysicalCable& cable : physical.cables) {
      wire_.push_back(cable.cables.size() > 1 ? add_both_ways(cable.rate_mbps, capacity) : kNone);
    }
    first_connector = static_cast<ResourceIndex>(capacity.size());
    connector_.reserve(physical.connectors.size());
    for (const routing::SharedConnector& connector : physical.connectors) {
      connector_.push_back(add_both_ways(connector.rate_mbps, capacity));
    }
    first_root = static_cast<ResourceIndex>(capacity.size());
    root_.reserve(physical.roots.size());
    for (const routing::SharedRoot& root : physical.roots) root_.push_back(add_both_ways(root.rate_mbps, capacity));
  }

  ResourceIndex first_connector = 0;
  ResourceIndex first_root = 0;

  void append(routing::CableIndex cable, bool from_a, std::vector<ResourceIndex>& resources) const {
    const std::size_t place = physical_.place_of_cable[cable.value];
    const routing::PhysicalCable& physical = physical_.cables[place];
    if (wire_[place] != kNone) resources.push_back(wire_[place] + (from_a ? 0 : 1));
    const std::optional<std::size_t>& sender = from_a ? physical.shared_at_a : physical.shared_at_b;
    const std::optional<std::size_t>& receiver = from_a ? physical.shared_at_b : physical.shared_at_a;
    if (sender) resources.push_back(connector_[*sender]);
    if (receiver) resources.push_back(connector_[*receiver] + 1);
    const routing::CableRoots& roots = physical_.roots_of_cable[cable.value];
    const std::optional<std::size_t>& sending_root = from_a ? roots.at_a : roots.at_b;
    const std::optional<std::size_t>& receiving_root = from_a ? roots.at_b : roots.at_a;
    if (sending_root) resources.push_back(root_[*sending_root]);
    if (receiving_root) resources.push_back(root_[*receiving_root] + 1);
  }

 private:
  static ResourceIndex add_both_ways(std::uint64_t rate_mbps, std::vector<double>& capacity) {
    capacity.insert(capacity.end(), 2, bytes_per_second(rate_mbps));
    return static_cast<ResourceIndex>(capacity.size() - 2);
  }

  const routing::PhysicalCables& physical_;
  std::vector<ResourceIndex> wire_;       // by physical cable: from a; the next index is from b
  std::vector<ResourceIndex> connector_;  // by connector: out of the node; the next index is into it
  std::vector<ResourceIndex> root_;       // by root: likewise
};

}  // namespace

CableResources::CableResources(const routing::Topology& topology, const routing::PhysicalCables& physical) {
  first_end_.reserve(topology.cable_count());
  for (const routing::Cable& cable : topology.cables()) {
    capacity_.insert(capacity_.end(), 2, bytes_per_second(cable.rate_mbps));
    first_end_.push_back(cable.a.node);
  }
  first_wire_ = static_cast<ResourceIndex>(capacity_.size());
  const SharedResources shared(physical, capacity_);
  first_connector_ = shared.first_connector;
  first_root_ = shared.first_root;
  for (std::uint32_t cable = 0; cable < topology.cable_count(); ++cable) {
    for (const bool from_a : {true, false}) {
      const CableDirection hop{routing::CableIndex{cable}, from_a};
      begin_.push_back(static_cast<std::uint32_t>(resources_.size()));
      resources_.push_back(hop.resource());
      shared.append(hop.cable, from_a, resources_);
    }
  }
  begin_.push_back(static_cast<std::uint32_t>(resources_.size()));
}

// The resource out of a node precedes the one into it.
ResourceKind CableResources::kind(ResourceIndex resource) const {
  const bool sends = resource % 2 == 0;
  if (resource >= first_root_) return sends ? ResourceKind::kSendingRoot : ResourceKind::kReceivingRoot;
  if (resource >= first_connector_) return sends ? ResourceKind::kSendingConnector : ResourceKind::kReceivingConnector;
  return resource >= first_wire_ ? ResourceKind::kWire : ResourceKind::kCable;
}

void CableResources::append_path(const routing::Path& path, std::vector<ResourceIndex>& resources) const {
  for (std::size_t hop = 0; hop < path.hops(); ++hop) {
    const std::span<const ResourceIndex> used = of_hop(direction(path.cables[hop], path.nodes[hop]));
    resources.insert(resources.end(), used.begin(), used.end());
  }
}

}  // namespace cableway::sim
