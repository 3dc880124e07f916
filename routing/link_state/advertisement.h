// What one node floods: its ports, and the neighbours that it hears over them. Only the origin creates new versions.
#ifndef CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_H_
#define CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "routing/topology/node_id.h"
#include "routing/topology/port_address.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kMaxAdvertisedPorts = 64;
inline constexpr std::size_t kMaxAdvertisedAdjacencies = 256;

// Orders advertisements of one origin. The boot nonce identifies the origin's incarnation and grows from one to the
// next; the sequence counts within an incarnation.
struct AdvertisementVersion {
  std::uint64_t boot_nonce = 0;
  std::uint64_t sequence = 0;
  friend auto operator<=>(const AdvertisementVersion&, const AdvertisementVersion&) = default;
};

struct AdvertisedPort {
  std::uint32_t id = 0;  // unique within the origin's incarnation, not 0
  std::string interface;
  std::string plug;                            // as in Port, may be empty
  std::string root;                            // likewise
  std::uint64_t rate_mbps = kDefaultRateMbps;  // what the port can carry: the lesser of its link and its root
  std::uint64_t link_mbps = 0;                 // of its link alone; 0: not known
  std::uint64_t root_mbps = 0;                 // of its root, which other ports may share; 0: not known
  friend bool operator==(const AdvertisedPort&, const AdvertisedPort&) = default;
};

// The origin hears `neighbour`, and `neighbour` hears the origin.
struct AdvertisedAdjacency {
  std::uint32_t port = 0;  // of the origin
  NodeId neighbour;
  std::uint32_t neighbour_port = 0;
  PortAddress address;  // the origin's, on this cable; link-local addresses carry no scope: the port is the scope
  std::uint32_t latency_ns = 0;   // one way, as measured by the origin; 0: not known
  bool draining = false;          // by the origin
  std::uint8_t loss_percent = 0;  // of what the neighbour sends, as in Cable
  friend bool operator==(const AdvertisedAdjacency&, const AdvertisedAdjacency&) = default;
};

struct Advertisement {
  NodeId origin;
  AdvertisementVersion version;
  std::string name;
  std::uint16_t relay_port = kDefaultRelayPort;
  bool draining = false;  // relays nothing
  std::vector<AdvertisedPort> ports;
  std::vector<AdvertisedAdjacency> adjacencies;

  friend bool operator==(const Advertisement&, const Advertisement&) = default;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_H_
