#include "routing/offers/striping_room.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace cableway::routing {

// Parts have two places each: one for each direction of a cable or wire, out of and into the node of a connector or
// root.
StripingRoom::StripingRoom(const Topology& topology, const PhysicalCables& physical)
    : topology_(topology),
      physical_(physical),
      first_wire_(2 * topology.cable_count()),
      first_connector_(first_wire_ + 2 * physical.cables.size()),
      first_root_(first_connector_ + 2 * physical.connectors.size()),
      uses_(first_root_ + 2 * physical.roots.size()) {}

void StripingRoom::append_parts(CableIndex cable, NodeIndex from, std::vector<Part>& parts) const {
  const bool from_a = topology_.cable(cable).a.node == from;
  const std::size_t way = from_a ? 0 : 1;
  parts.push_back({2UL * cable.value + way, topology_.cable(cable).rate_mbps, false});
  const std::size_t place = physical_.place_of_cable[cable.value];
  const PhysicalCable& wire = physical_.cables[place];
  if (wire.cables.size() > 1) {
    std::uint64_t sum = 0;
    for (const CableIndex each : wire.cables) sum += topology_.cable(each).rate_mbps;
    parts.push_back({first_wire_ + 2 * place + way, wire.rate_mbps, sum > wire.rate_mbps});
  }
  if (wire.shared_at_a) append_connector(*wire.shared_at_a, from_a, parts);
  if (wire.shared_at_b) append_connector(*wire.shared_at_b, !from_a, parts);
  if (physical_.roots_of_cable.empty()) return;
  const CableRoots& roots = physical_.roots_of_cable[cable.value];
  const auto append_root = [&](const std::optional<std::size_t>& root, bool out) {
    if (root) parts.push_back({first_root_ + 2 * *root + (out ? 0 : 1), physical_.roots[*root].rate_mbps, true});
  };
  append_root(roots.at_a, from_a);
  append_root(roots.at_b, !from_a);
}

void StripingRoom::append_connector(std::size_t connector, bool out, std::vector<Part>& parts) const {
  const SharedConnector& shared = physical_.connectors[connector];
  std::uint64_t sum = 0;
  for (const std::size_t wire : shared.physical_cables) sum += physical_.cables[wire].rate_mbps;
  parts.push_back({first_connector_ + 2 * connector + (out ? 0 : 1), shared.rate_mbps, sum > shared.rate_mbps});
}

std::vector<StripingRoom::Part> StripingRoom::parts_of(const Path& path) const {
  std::vector<Part> parts;
  for (std::size_t hop = 0; hop < path.hops(); ++hop) append_parts(path.cables[hop], path.nodes[hop], parts);
  return parts;
}

bool StripingRoom::has_room(const Path& path) const {
  const std::vector<Part> parts = parts_of(path);
  return std::all_of(parts.begin(), parts.end(),
                     [&](const Part& part) { return uses_[part.place].rate_mbps < part.rate_mbps; });
}

bool StripingRoom::can_be_overfilled(const Path& path) const {
  const std::vector<Part> parts = parts_of(path);
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.can_be_overfilled; });
}

bool StripingRoom::meets_taken(const Path& path) const {
  const std::vector<Part> parts = parts_of(path);
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return uses_[part.place].is_taken; });
}

void StripingRoom::add(const Path& path, bool takes_all) {
  const std::vector<Part> parts = parts_of(path);
  std::uint64_t slowest = std::numeric_limits<std::uint64_t>::max();
  for (const Part& part : parts) slowest = std::min(slowest, part.rate_mbps);
  for (const Part& part : parts) {
    uses_[part.place].rate_mbps += slowest;
    uses_[part.place].is_taken = uses_[part.place].is_taken || takes_all;
  }
}

}  // namespace cableway::routing
