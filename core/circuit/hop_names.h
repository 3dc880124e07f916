// The name of a hop's end for messages: node, port and cable. It is made when the hop is set up, and prefixes every
// failure found there: "node n1 port eth2 (cable to n2 eth1): the cable, or the host behind it, is silent".
#ifndef CABLEWAY_CORE_CIRCUIT_HOP_NAMES_H_
#define CABLEWAY_CORE_CIRCUIT_HOP_NAMES_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"
#include "core/ports/port_lost.h"

namespace cableway {

// One end of a hop. Names come from set-ups and may hold any bytes.
struct HopEnd {
  std::string node;
  std::string port;  // its interface; "" if the cable's name does not contain it
  std::string other_node;
  std::string other_port;
  std::string cable;
  bool other_relays = false;  // the other node is neither the circuit's source nor its destination

  friend bool operator==(const HopEnd&, const HopEnd&) = default;
};

// The ends of the path's hop with index `hop`: the end that sends the set-up, and the end that receives it.
HopEnd dialing_end(const CircuitSetup& setup, std::size_t hop);
HopEnd accepting_end(const CircuitSetup& setup, std::size_t hop);

// Whether the end is at this interface of its node. False if the cable's name does not contain the port.
bool is_at(const HopEnd& end, const std::string& interface);

// Whether the lost port affects a circuit's hop with this end. The caller checks only_rdma, since this function does
// not know whether the hop uses an RDMA device.
bool is_over(const HopEnd& end, const PortLost& lost);

// "node n1 port eth2 (cable to n2 eth1)", "node n1 (cable c0 to n2)" if the ports are not known, or "node n1 (between
// two of its processes)". Printable.
std::string to_text(const HopEnd& end);

// The nodes of the path, "n0 -> n1 -> n2": printable, and at most kMaxPathText bytes. In a longer text, nodes in the
// middle are omitted.
inline constexpr std::size_t kMaxPathText = 256;
std::string nodes_on_path(const CircuitSetup& setup);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_HOP_NAMES_H_
