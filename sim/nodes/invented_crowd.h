// Advertisements of nodes that do not exist, which confirm each other.
#ifndef CABLEWAY_SIM_NODES_INVENTED_CROWD_H_
#define CABLEWAY_SIM_NODES_INVENTED_CROWD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "routing/link_state/advertisement.h"

namespace cableway::sim {

struct InventedCrowd {
  std::vector<routing::Advertisement> nodes;
  // For the advertisement of the node that invents them: its half of a cable to each of the first of them, and the
  // ports of those.
  std::vector<routing::AdvertisedPort> head_ports;
  std::vector<routing::AdvertisedAdjacency> head_adjacencies;
};

struct CrowdShape {
  std::size_t nodes = 4096;
  std::size_t cables_each = 1;     // to the nodes that follow it in a ring; at most 31
  std::size_t cables_of_head = 8;  // at most 60; 0: nobody real confirms any of them
};

// Named `prefix` and a number, from 0, in their first incarnation.
InventedCrowd invented_crowd(const std::string& cluster, const std::string& head, const std::string& prefix,
                             const CrowdShape& shape, std::uint64_t sequence = 1);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_NODES_INVENTED_CROWD_H_
