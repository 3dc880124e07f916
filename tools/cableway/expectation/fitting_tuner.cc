#include "tools/cableway/expectation/fitting_tuner.h"

#include <algorithm>
#include <vector>

#include "core/settings/settings_table.h"
#include "nccl_adapter/algorithm/algorithm_choice.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology_kind.h"

namespace cableway::cli {
namespace {

using routing::TopologyKind;

// Of a ring, by what its cables join.
std::optional<TunerSetting> ring_tuner(const std::vector<routing::PhysicalCable>& wires, std::size_t hosts) {
  if (wires.size() != hosts) return std::nullopt;  // parallel cables
  const auto all_have = [&](std::size_t functions) {
    return std::all_of(wires.begin(), wires.end(),
                       [=](const routing::PhysicalCable& wire) { return wire.cables.size() == functions; });
  };
  if (all_have(1)) return TunerSetting::kRing;
  if (all_have(2)) return TunerSetting::kSparks;
  return std::nullopt;
}

}  // namespace

std::optional<TunerSetting> fitting_tuner(const routing::Topology& topology) {
  const std::size_t hosts = topology.node_count();
  if (hosts < nccl::kFewestTunedNodes || hosts > nccl::kMostTunedNodes || !topology.unused_cables().empty())
    return std::nullopt;
  const routing::PhysicalCables physical = routing::physical_cables(topology);
  if (!physical.connectors.empty()) return std::nullopt;  // a switch
  const TopologyKind kind = routing::recognise_shape(topology).kind;
  const bool is_triangle = kind == TopologyKind::kFullMesh && hosts == 3;
  if (kind == TopologyKind::kRing || is_triangle) return ring_tuner(physical.cables, hosts);
  if (kind == TopologyKind::kLine) return TunerSetting::kLine;
  if (kind == TopologyKind::kFullMesh) return TunerSetting::kMesh;
  return std::nullopt;
}

std::string tuner_name(TunerSetting tuner) {
  Settings settings;
  settings.tuner = tuner;
  return find_setting("tuner")->show(settings);
}

}  // namespace cableway::cli
