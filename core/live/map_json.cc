#include "core/live/map_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
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

Json nodes_json(const Topology& topology, const routing::TopologyLayout& layout) {
  Json nodes = Json::array();
  for (std::size_t i = 0; i < topology.node_count(); ++i) {
    const routing::Node& node = topology.nodes()[i];
    nodes.push_back({{"name", node.name},
                     {"x", layout.places[i].x},
                     {"y", layout.places[i].y},
                     {"width", box_width(node.name)},
                     {"draining", node.draining}});
  }
  return nodes;
}

Json end_json(routing::NodeIndex node, const routing::Port& port) {
  return {{"node", node.value}, {"interface", port.interface}};
}

// `drawn`: the cable in the map's topology; `is`: what is known of it.
Json cable_json(const routing::Cable& drawn, const routing::Cable& is, double bend) {
  return {{"cable", is.name},
          {"a", end_json(drawn.a.node, is.a)},
          {"b", end_json(drawn.b.node, is.b)},
          {"rate_mbps", is.rate_mbps},
          {"bend", bend}};
}

// Those that are there, and those that are gone.
struct CableLists {
  Json cables = Json::array();
  Json gone = Json::array();
};

CableLists cable_lists(const Topology& topology, const MapTopology& map, const routing::TopologyLayout& layout) {
  CableLists lists;
  for (std::size_t i = 0; i < map.drawn.cable_count(); ++i) {
    const routing::Cable& drawn = map.drawn.cables()[i];
    if (const auto gone = map.gone.find(drawn.name); gone != map.gone.end()) {
      Json json = cable_json(drawn, gone->second->cable, layout.bends[i]);
      json["since"] = rfc3339(gone->second->gone_since);
      lists.gone.push_back(std::move(json));
      continue;
    }
    const routing::Cable& cable = *topology.find_plugged(drawn.name);
    Json json = cable_json(drawn, cable, layout.bends[i]);
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
  for (const routing::PhysicalCable& wire : routing::physical_cables(map.drawn).cables) {
    if (wire.cables.size() < 2) continue;
    Json names = Json::array();
    for (const routing::CableIndex cable : wire.cables) names.push_back(map.drawn.cable(cable).name);
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
              {"wires", Json::array()}};
  if (can_be_drawn(topology)) {
    const MapTopology shown = map_topology(topology, gone);
    const routing::TopologyLayout layout =
        lay_out(shown.drawn, routing::recognise_shape(shown.drawn), node_spacing(topology));
    CableLists lists = cable_lists(topology, shown, layout);
    map["width"] = layout.width;
    map["height"] = layout.height;
    map["nodes"] = nodes_json(topology, layout);
    map["cables"] = std::move(lists.cables);
    map["gone"] = std::move(lists.gone);
    map["wires"] = wires_json(shown);
  }
  return map.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cableway
