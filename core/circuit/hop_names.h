// What people are told of a hop: which node's which port, on which cable, it ends at. Made when the hop is set up, and
// said with whatever fails there: "node n1 port eth2 (cable to n2 eth1): the cable, or the host behind it, is silent".
#ifndef CABLEWAY_CORE_CIRCUIT_HOP_NAMES_H_
#define CABLEWAY_CORE_CIRCUIT_HOP_NAMES_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"

namespace cableway {

// One end of a hop. Names come from set-ups, and may be of any bytes.
struct HopEnd {
  std::string node;
  std::string port;  // its interface; "" where the cable's name does not say
  std::string other_node;
  std::string other_port;
  std::string cable;

  friend bool operator==(const HopEnd&, const HopEnd&) = default;
};

// Of one hop of the path, below the number of its hops: the end that sends the set-up there, and the end that it comes
// to.
HopEnd dialing_end(const CircuitSetup& setup, std::size_t hop);
HopEnd accepting_end(const CircuitSetup& setup, std::size_t hop);

// "node n1 port eth2 (cable to n2 eth1)", "node n1 (cable c0 to n2)" where the ports are not known, and "node n1
// (between two of its processes)". Printable.
std::string to_text(const HopEnd& end);

// `status`, told of the end that `end` is the text of. What the other end has said in its own words (kAborted) names
// who found it and stays as it is, so that reasons do not grow with the path.
absl::Status told_of(const std::string& end, const absl::Status& status);

// The nodes of the path, "n0 -> n1 -> n2": printable, and at most kMaxPathText bytes, for which nodes in the middle are
// left out.
inline constexpr std::size_t kMaxPathText = 256;
std::string nodes_on_path(const CircuitSetup& setup);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_HOP_NAMES_H_
