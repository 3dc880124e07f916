// A hello: describes one port of a node and the neighbours that the node hears there. Sent some ten times a second.
// Some are padded with zeros to the size of the largest packets (full_size_hellos.h).
#ifndef CABLEWAY_CORE_DISCOVERY_PORT_HELLO_H_
#define CABLEWAY_CORE_DISCOVERY_PORT_HELLO_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ports/port_inventory.h"
#include "routing/topology/node_id.h"

namespace cableway {

inline constexpr std::size_t kMaxHelloAddresses = 16;
// Maximum of other ports on one segment (a switch).
inline constexpr std::size_t kMaxHeard = 128;

// Describes the last hello received from a port: its send time, by that port's clock, and how long it was held until
// the hello with this echo was sent, by the clock of the echo's sender.
struct HelloEcho {
  std::uint64_t sent_ns = 0;  // 0: none, or it had no time
  std::uint64_t held_ns = 0;

  friend bool operator==(const HelloEcho&, const HelloEcho&) = default;
};

// Whether a port receives the full-size hellos of another.
enum class FullSize : std::uint8_t {
  kAwaited = 0,  // none yet, but it has not heard that port for long
  kArrives = 1,
  kLost = 2,  // none within their hold time, although smaller hellos arrive
};

// "I hear you": the other half of the two-way check. Each side draws a number for what it hears (RFC 5880
// section 6.8.6: a discriminator). A side believes that the other lives once it names that number, and the adjacency is
// up when both do. A recorded hello cannot name a number that was drawn after it.
struct HeardNeighbour {
  routing::NodeId node;
  PortId port = 0;
  std::uint64_t boot_nonce = 0;      // the incarnation that is heard: no other is meant
  std::uint64_t your_adjacency = 0;  // as last received from that port; 0: none received yet
  std::uint64_t my_adjacency = 0;    // the number drawn by the sender, not 0
  bool uses = false;                 // the sender uses the cable to that port, if the port's end does so, too
  HelloEcho echo;
  FullSize full_size = FullSize::kAwaited;  // whether that port's arrive at the sender

  friend bool operator==(const HeardNeighbour&, const HeardNeighbour&) = default;
};

struct HelloAddress {
  PortPrefix prefix;  // without a scope
  // Another port of the sender is in the same subnet, so its kernel may not know which cable leads there.
  bool shared = false;

  friend bool operator==(const HelloAddress&, const HelloAddress&) = default;
};

struct PortHello {
  std::string node;
  std::string interface;
  std::uint32_t mtu = 0;
  std::uint32_t hold_ms = 0;  // how long the receiver keeps the sender up after this hello
  bool leaving = false;       // the node is shutting down
  std::uint64_t sent_ns = 0;  // by the sender's clock, of any epoch; 0: no time
  std::vector<HelloAddress> addresses;
  std::vector<HeardNeighbour> heard;

  friend bool operator==(const PortHello&, const PortHello&) = default;
};

// The end of a cable to which a hello's entry refers: a port of one incarnation of a node.
struct HeardEnd {
  routing::NodeId node;
  std::uint64_t boot_nonce = 0;
  PortId port = 0;
};

// The hello's entry about that end; null: its sender does not hear it.
const HeardNeighbour* find_heard(const PortHello& hello, const HeardEnd& end);

// Padded to `least_bytes`, which the hello itself may exceed.
std::vector<std::byte> encode_port_hello(const PortHello& hello, std::size_t least_bytes = 0);
// InvalidArgument names the invalid field.
absl::StatusOr<PortHello> decode_port_hello(std::span<const std::byte> body);

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_PORT_HELLO_H_
