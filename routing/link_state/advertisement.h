// What one node floods: its ports, and the neighbours that it hears over them. Only the origin creates new versions.
#ifndef CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_H_
#define CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routing/topology/node_id.h"
#include "routing/topology/port_address.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kMaxAdvertisedPorts = 64;
inline constexpr std::size_t kMaxAdvertisedAdjacencies = 256;

// Far more than an origin makes while it runs, at ten a second. A version with a greater sequence is refused: its
// origin could supersede it only with a greater boot nonce.
inline constexpr std::uint64_t kMaxSequence = std::uint64_t{1} << 32;

// Orders advertisements of one origin. The boot nonce is that of the origin's incarnation, or greater where the origin
// had to supersede what it did not make; the sequence counts from 1.
struct AdvertisementVersion {
  std::uint64_t boot_nonce = 0;  // microseconds since 1970, when the incarnation began
  std::uint64_t sequence = 0;
  // The least version of the origin that supersedes this one.
  AdvertisementVersion next() const {
    return sequence < kMaxSequence ? AdvertisementVersion{boot_nonce, sequence + 1}
                                   : AdvertisementVersion{boot_nonce + 1, 1};
  }
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
  friend auto operator<=>(const AdvertisedPort&, const AdvertisedPort&) = default;
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
  // The neighbour's on this cable, as its hellos gave it to the origin, likewise without a scope. Nodes always say it;
  // empty: not said, and nothing is compared with it.
  std::optional<PortAddress> neighbour_address = std::nullopt;
  friend auto operator<=>(const AdvertisedAdjacency&, const AdvertisedAdjacency&) = default;
};

struct Advertisement {
  NodeId origin;
  AdvertisementVersion version;
  std::string name;
  std::uint16_t relay_port = kDefaultRelayPort;
  bool draining = false;  // relays nothing
  std::vector<AdvertisedPort> ports;
  std::vector<AdvertisedAdjacency> adjacencies;

  // By origin, then version, then content.
  friend auto operator<=>(const Advertisement&, const Advertisement&) = default;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_H_
