// Ports as in the view `ports`, for tests of what doctor finds about their neighbours.
#ifndef CABLEWAY_TESTS_TOOLS_CABLEWAY_DOCTOR_WIRE_PORT_H_
#define CABLEWAY_TESTS_TOOLS_CABLEWAY_DOCTOR_WIRE_PORT_H_

#include <string>

#include "tools/cableway/text/json.h"

namespace cableway::cli {

// A port that has a carrier, and nothing to remark but its neighbours.
inline Json wire_port(const std::string& interface, const Json& neighbours, const Json& control = nullptr) {
  return {{"interface", interface},
          {"carrier", true},
          {"mtu", 9000},
          {"rate_mbps", nullptr},
          {"link_mbps", nullptr},
          {"root", nullptr},
          {"root_mbps", nullptr},
          {"rdma_device", nullptr},
          {"rdma_trouble", nullptr},
          {"transport", "tcp"},
          {"transport_reason", "no RDMA device behind " + interface},
          {"plug", nullptr},
          {"neighbours", neighbours},
          {"control", control}};
}

inline Json wire_neighbour(const std::string& node, const std::string& interface, const std::string& state,
                           const Json& hears_us, const Json& large_lost = nullptr) {
  return {{"node", node},         {"interface", interface},   {"state", state},
          {"hears_us", hears_us}, {"large_lost", large_lost}, {"link_mbps", nullptr}};
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TESTS_TOOLS_CABLEWAY_DOCTOR_WIRE_PORT_H_
