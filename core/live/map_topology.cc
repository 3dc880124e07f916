#include "core/live/map_topology.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "routing/layout/usable_cables.h"

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

// Puts the cables that are left of a wire on it again.
void join_twins(const Topology& topology, std::span<const GoneCable> gone, std::vector<routing::Cable>& cables) {
  std::map<std::string_view, const GoneCable*> wires;  // by the name of a twin
  for (const GoneCable& each : gone) {
    const bool is_shown = topology.find_node(each.node_a) && topology.find_node(each.node_b) &&
                          topology.find_plugged(each.cable.name) == nullptr;
    if (!is_shown) continue;
    for (const std::string& twin : each.twins) wires.emplace(twin, &each);
  }
  for (routing::Cable& cable : cables) {
    const auto wire = wires.find(cable.name);
    if (wire == wires.end()) continue;
    if (cable.a.plug.empty()) cable.a.plug = wire->second->cable.a.plug;
    if (cable.b.plug.empty()) cable.b.plug = wire->second->cable.b.plug;
    cable.rate_mbps = rate_now(topology, cable);
  }
}

// What tells a port from the node's other ports.
using PortKey = std::tuple<std::string, std::string, std::string>;  // node, interface, address

class MapDrawing {
 public:
  MapDrawing(const Topology& topology, routing::BoxedTopology boxed) : topology_(topology), map_{std::move(boxed), {}} {
    const Topology& drawn = map_.boxed.drawn;
    nodes_.assign(drawn.nodes().begin(), drawn.nodes().end());
    cables_.assign(drawn.cables().begin(), drawn.cables().end());
    for (const auto& [name, port] : map_.boxed.ports) {
      for (const std::string& each : port.cables) note_port(*topology.find_plugged(each), port);
    }
  }

  MapTopology make(std::span<const GoneCable> gone) && {
    for (const GoneCable& each : gone) add(each);
    absl::StatusOr<Topology> drawn = Topology::create(topology_.cluster(), std::move(nodes_), std::move(cables_));
    if (drawn.ok()) {
      map_.boxed.drawn = *std::move(drawn);
    } else {
      map_.gone.clear();
    }
    return std::move(map_);
  }

 private:
  void note_port(const routing::Cable& cable, const routing::SwitchPort& port) {
    const bool is_a = topology_.node(cable.a.node).name == port.node;
    const routing::Port& at = is_a ? cable.a : cable.b;
    boxes_.emplace(PortKey{port.node, at.interface, at.address}, port.box);
  }

  // The switch on which the port is, or empty.
  std::string box_of(const std::string& node, const routing::Port& port) const {
    const auto box = boxes_.find({node, port.interface, port.address});
    return box == boxes_.end() ? "" : box->second;
  }

  void add(const GoneCable& gone) {
    const Topology& drawn = map_.boxed.drawn;
    if (topology_.find_plugged(gone.cable.name) != nullptr || drawn.find_plugged(gone.cable.name) != nullptr) return;
    std::string node_a = gone.node_a;
    std::string node_b = gone.node_b;
    const std::string box_a = box_of(node_a, gone.cable.a);
    const std::string box_b = box_of(node_b, gone.cable.b);
    if (!box_a.empty() && box_a == box_b) return;  // its ports are joined by another
    if (box_a.empty() != box_b.empty()) {
      // One of a port that has left the switch, or several to its other ports.
      const PortKey left = box_a.empty() ? PortKey{node_a, gone.cable.a.interface, gone.cable.a.address}
                                         : PortKey{node_b, gone.cable.b.interface, gone.cable.b.address};
      if (!gone_ports_.insert(left).second) return;
      (box_a.empty() ? node_b : node_a) = box_a.empty() ? box_b : box_a;
    }
    const std::optional<routing::NodeIndex> a = drawn.find_node(node_a);
    const std::optional<routing::NodeIndex> b = drawn.find_node(node_b);
    if (!a || !b || a == b || !map_.gone.emplace(gone.cable.name, &gone).second) return;
    const std::size_t number = map_.gone.size();
    routing::Cable cable{.name = gone.cable.name,
                         .a = gone_end(gone.cable.a, *a, number, 1),
                         .b = gone_end(gone.cable.b, *b, number, 2),
                         .rate_mbps = gone.cable.rate_mbps};
    if (map_.boxed.boxes.contains(node_a)) cable.a.plug = {};
    if (map_.boxed.boxes.contains(node_b)) cable.b.plug = {};
    cable.rate_mbps = rate_now(drawn, cable);
    cables_.push_back(std::move(cable));
  }

  const Topology& topology_;
  MapTopology map_;
  std::vector<routing::Node> nodes_;
  std::vector<routing::Cable> cables_;
  std::map<PortKey, std::string> boxes_;  // names of switches, by their ports
  std::set<PortKey> gone_ports_;
};

}  // namespace

MapTopology map_topology(const Topology& topology, std::span<const GoneCable> gone) {
  std::vector<routing::Cable> cables = routing::as_usable(topology.plugged_cables());
  join_twins(topology, gone, cables);
  absl::StatusOr<Topology> usable =
      Topology::create(topology.cluster(), {topology.nodes().begin(), topology.nodes().end()}, std::move(cables));
  const Topology& all = usable.ok() ? *usable : topology;
  return MapDrawing(all, with_switch_boxes(all, [](const routing::Cable&) { return false; })).make(gone);
}

}  // namespace cableway
