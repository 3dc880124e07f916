#include "core/live/map_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "routing/layout/text_width.h"
#include "routing/layout/topology_layout.h"
#include "routing/text/json_schema.h"
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
constexpr double kOutOfUseBend = 22;

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

Json end_json(const routing::Port& port) {
  return {{"node", port.node.value}, {"interface", port.interface}};
}

Json cable_json(const routing::Cable& cable, bool is_used, double bend) {
  return {{"cable", cable.name},
          {"a", end_json(cable.a)},
          {"b", end_json(cable.b)},
          {"rate_mbps", cable.rate_mbps},
          {"latency_us", cable.latency_us ? Json(*cable.latency_us) : Json(nullptr)},
          {"loss_percent", cable.loss_percent},
          {"draining", cable.draining},
          {"used", is_used},
          {"bend", bend}};
}

Json cables_json(const Topology& topology, const routing::TopologyLayout& layout) {
  Json cables = Json::array();
  for (std::size_t i = 0; i < topology.cable_count(); ++i) {
    cables.push_back(cable_json(topology.cables()[i], true, layout.bends[i]));
  }
  // The layout has no bend for these: one that is beside others is drawn outside of them.
  double outside = kOutOfUseBend;
  for (const routing::Cable& cable : topology.unused_cables()) {
    const std::size_t beside = topology.cables_between(cable.a.node, cable.b.node).size();
    cables.push_back(cable_json(cable, false, beside == 0 ? 0 : outside * static_cast<double>(beside)));
    outside = -outside;
  }
  return cables;
}

}  // namespace

std::string map_json(const Topology& topology, const std::string& own) {
  Json map = {{routing::kSchemaMember, routing::kJsonSchema},
              {"node", own},
              {"width", 0},
              {"height", 0},
              {"node_count", topology.node_count()},
              {"cable_count", topology.plugged_cables().size()},
              {"nodes", nullptr},
              {"cables", nullptr}};
  if (topology.node_count() <= kMaxMapNodes && topology.plugged_cables().size() <= kMaxMapCables) {
    const routing::TopologyLayout layout =
        lay_out(topology, routing::recognise_shape(topology), node_spacing(topology));
    map["width"] = layout.width;
    map["height"] = layout.height;
    map["nodes"] = nodes_json(topology, layout);
    map["cables"] = cables_json(topology, layout);
  }
  return map.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cableway
