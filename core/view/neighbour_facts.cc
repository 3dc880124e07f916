#include "core/view/neighbour_facts.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "core/node/neighbour_cable.h"

namespace cableway {
namespace {

using Json = nlohmann::ordered_json;

// The cable carries what its slower end can; null where one of them is not known.
Json cable_rate(const Node& node, const NeighbourKey& key) {
  const std::vector<PortFacts>& ports = node.neighbours().ports();
  const auto own = std::find_if(ports.begin(), ports.end(), [&](const PortFacts& port) { return port.id == key.port; });
  const Json other = port_rate_or_null(neighbour_port(node, key));
  if (own == ports.end() || own->rate_mbps == 0 || other.is_null()) return nullptr;
  return std::min<std::uint64_t>(own->rate_mbps, other.get<std::uint64_t>());
}

}  // namespace

const routing::AdvertisedPort* neighbour_port(const Node& node, const NeighbourKey& key) {
  const routing::Advertisement* advertisement = node.flooding().database().find(key.node);
  if (advertisement == nullptr) return nullptr;
  const auto port = std::find_if(advertisement->ports.begin(), advertisement->ports.end(),
                                 [&](const routing::AdvertisedPort& each) { return each.id == key.neighbour_port; });
  return port == advertisement->ports.end() ? nullptr : &*port;
}

const char* state_text(const Neighbour& neighbour) {
  if (neighbour.up) return "up";
  return neighbour.paired ? "heard" : "unpaired";
}

Json latency_or_null(const Neighbour& neighbour) {
  constexpr double kNanosecondsPerMicrosecond = 1000;
  if (!neighbour.up || !neighbour.latency) return nullptr;
  return static_cast<double>(neighbour.latency->count()) / kNanosecondsPerMicrosecond;
}

Json port_rate_or_null(const routing::AdvertisedPort* port) {
  if (port == nullptr || port->link_mbps == 0) return nullptr;
  return port->rate_mbps;
}

Json status_neighbours(const Node& node) {
  Json neighbours = Json::array();
  for (const auto& [key, neighbour] : node.neighbours().all()) {
    const std::string cable = cable_name(node.identity().name, neighbour);
    neighbours.push_back(
        {{"node", neighbour.name},
         {"cable", cable},
         {"interface", neighbour.our_interface},
         {"neighbour_interface", neighbour.interface},
         {"state", state_text(neighbour)},
         {"draining", node.draining_cables().contains(cable)},
         {"rate_mbps", cable_rate(node, key)},
         {"latency_us", latency_or_null(neighbour)},
         {"known_ms",
          std::chrono::duration_cast<std::chrono::milliseconds>(node.now() - neighbour.heard_since).count()}});
  }
  return neighbours;
}

}  // namespace cableway
