#include "core/live/map_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "core/live/map_topology.h"
#include "routing/layout/text_width.h"
#include "routing/layout/topology_layout.h"
#include "routing/text/json_schema.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology_kind.h"

namespace cableway {
namespace {

using Json = nlohmann::ordered_json;
using routing::Topology;

// Pixels.
constexpr double kNamePixels = 13;
constexpr double kBoxRoom = 20;
constexpr double kSmallestBox = 68;
constexpr double kCableRoom = 110;
constexpr double kCrowdedRoom = 44;
constexpr std::size_t kCrowd = 16;  // nodes

double box_width(const std::string& name) {
  return std::max(kSmallestBox,
                  std::ceil(routing::text_width(name, kNamePixels, routing::FontWeight::kBold)) + kBoxRoom);
}

double node_spacing(const Topology& topology) {
  double widest = kSmallestBox;
  for (const routing::Node& node : topology.nodes()) widest = std::max(widest, box_width(node.name));
  return widest + (topology.node_count() > kCrowd ? kCrowdedRoom : kCableRoom);
}

Json nodes_json(const routing::BoxedTopology& boxed, const routing::TopologyLayout& layout) {
  const Topology& topology = boxed.drawn;
  Json nodes = Json::array();
  for (std::size_t i = 0; i < topology.node_count(); ++i) {
    const routing::Node& node = topology.nodes()[i];
    nodes.push_back({{"name", node.name},
                     {"x", layout.places[i].x},
                     {"y", layout.places[i].y},
                     {"width", box_width(node.name)},
                     {"draining", node.draining},
                     {"switch", boxed.boxes.contains(node.name)}});
  }
  return nodes;
}

Json end_json(routing::NodeIndex node, const routing::Port& port) {
  return {{"node", node.value}, {"interface", port.interface}};
}

// `drawn`: the cable in the map's topology; `is`: what is known of it. A switch has no interface.
Json cable_json(const routing::BoxedTopology& boxed, const routing::Cable& drawn, const routing::Cable& is,
                double bend) {
  Json json = {{"cable", is.name},
               {"a", end_json(drawn.a.node, is.a)},
               {"b", end_json(drawn.b.node, is.b)},
               {"rate_mbps", is.rate_mbps},
               {"bend", bend}};
  for (const char* end : {"a", "b"}) {
    const routing::NodeIndex node{json[end]["node"].get<std::uint32_t>()};
    if (boxed.boxes.contains(boxed.drawn.node(node).name)) json[end]["interface"] = "";
  }
  return json;
}

// With its ends in the order in which they are drawn: a switch may be in the place of either.
routing::Cable as_drawn(const Topology& shown, const routing::Cable& drawn, const GoneCable& gone) {
  routing::Cable cable = gone.cable;
  const bool is_in_order = shown.node(drawn.a.node).name == gone.node_a || shown.node(drawn.b.node).name == gone.node_b;
  if (!is_in_order) std::swap(cable.a, cable.b);
  return cable;
}

// A node's port on a switch. `topology`: of which the port's cables are.
Json port_json(const Topology& topology, const routing::BoxedTopology& boxed, const routing::Cable& drawn,
               const routing::SwitchPort& port, double bend) {
  std::set<std::string> interfaces;
  std::size_t unused = 0;
  bool draining = true;
  for (const std::string& name : port.cables) {
    const routing::Cable& cable = *topology.find_plugged(name);
    const bool is_a = topology.node(cable.a.node).name == port.node;
    interfaces.insert((is_a ? cable.a : cable.b).interface);
    if (!topology.find_cable(name)) ++unused;
    draining = draining && cable.draining;
  }
  const bool is_a = boxed.drawn.node(drawn.a.node).name == port.node;
  return {{"port", port.name},
          {"node", (is_a ? drawn.a : drawn.b).node.value},
          {"interfaces", interfaces},
          {"switch", (is_a ? drawn.b : drawn.a).node.value},
          {"cables", port.cables},
          {"others", port.others},
          {"rate_mbps", port.rate_mbps},
          {"draining", draining},
          {"unused", unused},
          {"bend", is_a ? bend : -bend}};
}

// Those that are there, those that are gone, and ports of switches.
struct CableLists {
  Json cables = Json::array();
  Json gone = Json::array();
  Json ports = Json::array();
};

CableLists cable_lists(const Topology& topology, const MapTopology& map, const routing::TopologyLayout& layout) {
  CableLists lists;
  const Topology& shown = map.boxed.drawn;
  for (std::size_t i = 0; i < shown.cable_count(); ++i) {
    const routing::Cable& drawn = shown.cables()[i];
    if (const auto gone = map.gone.find(drawn.name); gone != map.gone.end()) {
      Json json = cable_json(map.boxed, drawn, as_drawn(shown, drawn, *gone->second), layout.bends[i]);
      json["since"] = rfc3339(gone->second->gone_since);
      lists.gone.push_back(std::move(json));
      continue;
    }
    if (const auto port = map.boxed.ports.find(drawn.name); port != map.boxed.ports.end()) {
      lists.ports.push_back(port_json(topology, map.boxed, drawn, port->second, layout.bends[i]));
      continue;
    }
    const routing::Cable& cable = *topology.find_plugged(drawn.name);
    Json json = cable_json(map.boxed, drawn, cable, layout.bends[i]);
    json["latency_us"] = cable.latency_us ? Json(*cable.latency_us) : Json(nullptr);
    json["loss_percent"] = cable.loss_percent;
    json["draining"] = cable.draining;
    json["used"] = topology.find_cable(drawn.name).has_value();
    lists.cables.push_back(std::move(json));
  }
  return lists;
}

// Of several cables: their names, and what they carry together.
Json wires_json(const MapTopology& map) {
  Json wires = Json::array();
  for (const routing::PhysicalCable& wire : routing::physical_cables(map.boxed.drawn).cables) {
    if (wire.cables.size() < 2) continue;
    Json names = Json::array();
    for (const routing::CableIndex cable : wire.cables) names.push_back(map.boxed.drawn.cable(cable).name);
    wires.push_back({{"cables", std::move(names)}, {"rate_mbps", wire.rate_mbps}});
  }
  return wires;
}

}  // namespace

bool can_be_drawn(const Topology& topology) {
  return topology.node_count() <= kMaxMapNodes && topology.plugged_cables().size() <= kMaxMapCables;
}

std::string map_json(const Topology& topology, const std::string& own, std::span<const GoneCable> gone) {
  Json map = {{routing::kSchemaMember, routing::kJsonSchema},
              {"node", own},
              {"width", 0},
              {"height", 0},
              {"node_count", topology.node_count()},
              {"cable_count", topology.plugged_cables().size()},
              {"nodes", nullptr},
              {"cables", nullptr},
              {"gone", Json::array()},
              {"ports", Json::array()},
              {"wires", Json::array()}};
  if (can_be_drawn(topology)) {
    const MapTopology shown = map_topology(topology, gone);
    const routing::TopologyLayout layout =
        lay_out(shown.boxed.drawn, routing::recognise_shape(shown.boxed.drawn), node_spacing(topology));
    CableLists lists = cable_lists(topology, shown, layout);
    map["width"] = layout.width;
    map["height"] = layout.height;
    map["nodes"] = nodes_json(shown.boxed, layout);
    map["cables"] = std::move(lists.cables);
    map["gone"] = std::move(lists.gone);
    map["ports"] = std::move(lists.ports);
    map["wires"] = wires_json(shown);
  }
  return map.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cableway
