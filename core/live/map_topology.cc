#include "core/live/map_topology.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"

namespace cableway {
namespace {

using routing::Topology;

// The addresses and interfaces of a cable that is gone may be another's by now, so its ends get addresses that no host
// has (RFC 9780), and no interface. The plug stays: it tells whether the cable shared a wire.
routing::Port gone_end(const routing::Port& was, routing::NodeIndex node, std::size_t number, int end) {
  return {.node = node,
          .interface = {},
          .address = absl::StrFormat("100:0:0:1::%x:%d", number, end),
          .plug = was.plug,
          .root = {}};
}

// A plug may have become slower since.
std::uint64_t rate_now(const Topology& topology, const routing::Cable& cable) {
  std::uint64_t rate = cable.rate_mbps;
  for (const routing::Port* port : {&cable.a, &cable.b}) {
    rate = std::min(rate, stated_rate_mbps(topology.node(port->node).plugs, port->plug).value_or(rate));
  }
  return rate;
}

std::vector<routing::Cable> as_usable(std::span<const routing::Cable> plugged) {
  std::vector<routing::Cable> cables(plugged.begin(), plugged.end());
  for (routing::Cable& cable : cables) {
    cable.draining = false;
    cable.loss_percent = 0;
  }
  return cables;
}

// Puts the cables that are left of a wire on it again.
void join_twins(const Topology& topology, const std::map<std::string, const GoneCable*, std::less<>>& gone,
                std::vector<routing::Cable>& cables) {
  std::map<std::string_view, const GoneCable*> wires;  // by the name of a twin
  for (const auto& [name, each] : gone) {
    for (const std::string& twin : each->twins) wires.emplace(twin, each);
  }
  for (routing::Cable& cable : cables) {
    const auto wire = wires.find(cable.name);
    if (wire == wires.end()) continue;
    if (cable.a.plug.empty()) cable.a.plug = wire->second->cable.a.plug;
    if (cable.b.plug.empty()) cable.b.plug = wire->second->cable.b.plug;
    cable.rate_mbps = rate_now(topology, cable);
  }
}

absl::StatusOr<Topology> with_cables(const Topology& topology, std::vector<routing::Cable> cables) {
  return Topology::create(topology.cluster(), {topology.nodes().begin(), topology.nodes().end()}, std::move(cables));
}

}  // namespace

MapTopology map_topology(const Topology& topology, std::span<const GoneCable> gone) {
  std::vector<routing::Cable> cables = as_usable(topology.plugged_cables());
  MapTopology map{topology, {}};
  for (const GoneCable& each : gone) {
    const std::optional<routing::NodeIndex> a = topology.find_node(each.node_a);
    const std::optional<routing::NodeIndex> b = topology.find_node(each.node_b);
    if (!a || !b || topology.find_plugged(each.cable.name) != nullptr) continue;
    const std::size_t number = map.gone.size() + 1;
    if (!map.gone.emplace(each.cable.name, &each).second) continue;
    routing::Cable cable{.name = each.cable.name,
                         .a = gone_end(each.cable.a, *a, number, 1),
                         .b = gone_end(each.cable.b, *b, number, 2),
                         .rate_mbps = each.cable.rate_mbps};
    cable.rate_mbps = rate_now(topology, cable);
    cables.push_back(std::move(cable));
  }
  join_twins(topology, map.gone, cables);
  absl::StatusOr<Topology> drawn = with_cables(topology, std::move(cables));
  if (!drawn.ok()) {
    map.gone.clear();
    drawn = with_cables(topology, as_usable(topology.plugged_cables()));
  }
  if (drawn.ok()) map.drawn = *std::move(drawn);
  return map;
}

}  // namespace cableway
