// Cables of this node that its pulses do not fully trust: silent, or the neighbour's node stands still. The topology
// may or may not still have them.
#ifndef CABLEWAY_CORE_NODE_DOUBTED_CABLE_H_
#define CABLEWAY_CORE_NODE_DOUBTED_CABLE_H_

#include <map>
#include <string>

namespace cableway {

struct DoubtedCable {
  std::string neighbour;
  std::string reason;         // "the cable is silent: nothing was heard for 42 ms"
  bool only_relayed = false;  // the neighbour's node stands still: its processes can be reached
  bool proving = false;       // pulses arrive again, but not yet for long enough
  friend bool operator==(const DoubtedCable&, const DoubtedCable&) = default;
};

using DoubtedCables = std::map<std::string, DoubtedCable>;  // by name

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_DOUBTED_CABLE_H_
