#include "routing/link_state/both_ways.h"

#include <algorithm>

namespace cableway::routing {

const AdvertisedPort* find_port(const Advertisement& node, std::uint32_t id) {
  const auto port = std::find_if(node.ports.begin(), node.ports.end(), [&](const auto& each) { return each.id == id; });
  return port == node.ports.end() ? nullptr : &*port;
}

const AdvertisedAdjacency* find_answer(const Advertisement& node, const AdvertisedAdjacency& adjacency,
                                       const Advertisement& neighbour) {
  const auto answer =
      std::find_if(neighbour.adjacencies.begin(), neighbour.adjacencies.end(), [&](const AdvertisedAdjacency& each) {
        return each.neighbour == node.origin && each.port == adjacency.neighbour_port &&
               each.neighbour_port == adjacency.port;
      });
  if (answer == neighbour.adjacencies.end()) return nullptr;
  const bool has_ports =
      find_port(node, adjacency.port) != nullptr && find_port(neighbour, adjacency.neighbour_port) != nullptr;
  return has_ports ? &*answer : nullptr;
}

bool has_heard_address(const AdvertisedAdjacency& own, const AdvertisedAdjacency& answer) {
  if (!answer.neighbour_address.has_value()) return true;
  const PortAddress& heard = *answer.neighbour_address;
  return own.address.is_ipv6 == heard.is_ipv6 && own.address.bytes == heard.bytes;
}

}  // namespace cableway::routing
