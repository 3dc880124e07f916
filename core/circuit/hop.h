// One cable of a path, in the direction of travel, and its encoding in messages between processes and nodes.
#ifndef CABLEWAY_CORE_CIRCUIT_HOP_H_
#define CABLEWAY_CORE_CIRCUIT_HOP_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/wire.h"
#include "routing/text/node_name.h"

namespace cableway {

inline constexpr std::size_t kMaxHops = 128;

struct Hop {
  std::string cable;
  std::string from_address;  // IP literal of the port it leaves from
  std::string to_node;
  std::string to_address;     // IP literal of the port it arrives at
  std::uint16_t to_port = 0;  // TCP
  bool routed = false;        // the two ports reach each other through IP routers

  friend bool operator==(const Hop&, const Hop&) = default;
};

inline void put_hop(WireWriter& writer, const Hop& hop) {
  writer.put_text(hop.cable);
  writer.put_text(hop.from_address);
  writer.put_text(hop.to_node);
  writer.put_text(hop.to_address);
  writer.put(hop.to_port);
  writer.put(static_cast<std::uint8_t>(hop.routed));
}

// A field above its bound puts the reader into its error state.
inline Hop get_hop(WireReader& reader) {
  constexpr std::size_t kMaxCableName = 160;
  constexpr std::size_t kMaxAddress = 64;
  Hop hop;
  hop.cable = reader.get_text(kMaxCableName);
  hop.from_address = reader.get_printable(kMaxAddress);
  hop.to_node = reader.get_text(routing::kMaxNodeNameBytes);
  hop.to_address = reader.get_printable(kMaxAddress);
  hop.to_port = reader.get<std::uint16_t>();
  hop.routed = reader.get<std::uint8_t>() != 0;
  return hop;
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_HOP_H_
