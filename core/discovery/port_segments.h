// Which ports of this node are on one segment: one wire, or one switch.
//
// Two ports are on one segment if the hardware reports that they are functions of one plug, if one receives the other's
// hellos, or if both receive the hellos of the same port of a neighbour. A segment with one neighbour is a wire.
// Its ports have the plug that the hardware reports; virtual ports, as in network namespaces, share one that is derived
// from the hellos.
#ifndef CABLEWAY_CORE_DISCOVERY_PORT_SEGMENTS_H_
#define CABLEWAY_CORE_DISCOVERY_PORT_SEGMENTS_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/ports/port_inventory.h"
#include "routing/topology/node_id.h"

namespace cableway {

// A port of a neighbour, and the port of this node that receives its hellos.
struct PortHearing {
  PortId at = 0;
  routing::NodeId node;
  PortId port = 0;
};

struct PortSegment {
  std::vector<PortId> ports;        // of this node, sorted
  std::set<routing::NodeId> nodes;  // the neighbours that are heard there
  bool is_switch = false;           // several nodes have been heard there since its ports got their carrier

  bool is_wire() const { return nodes.size() == 1 && !is_switch; }
};

// One thread: the node's.
class PortSegments {
 public:
  // Sets the inventory's ports. What was heard at ports without a carrier is forgotten.
  void set_ports(std::span<const PortFacts> ports);
  // Port `at` has received a hello of port `from`, both of this node. True if neither had received a hello of the
  // other.
  bool note_own_hello(PortId at, PortId from, Instant now);
  // Forgets pairs of own ports that have not heard each other since `before`. True if there were any.
  bool forget_own_hellos(Instant before);
  // Rebuilds the segments, which other calls do not change.
  void build(std::span<const PortHearing> heard);

  // Precondition: `port` is one of set_ports().
  const PortSegment& of(PortId port) const { return segments_[place_.at(port)]; }
  // The hardware's plug; without one, on a wire with several ports that no hardware describes (virtual ones),
  // "wire.<the first interface>"; else "".
  std::string plug_of(PortId port) const;
  // Whether the two are the ends of one cable: one has received the other's hellos since `since` or earlier, the
  // hardware does not report them as one plug, and no neighbour has been heard on their segment since they got their
  // carrier.
  bool is_loop(PortId one, PortId other, Instant since) const;

 private:
  using Pair = std::pair<PortId, PortId>;  // the lower first
  struct OwnHellos {
    Instant first;
    Instant last;
  };

  std::vector<PortFacts> ports_;
  std::map<Pair, OwnHellos> own_hellos_;
  // Ports on whose segment a neighbour, or several, have been heard since they got their carrier.
  std::set<PortId> had_neighbour_;
  std::set<PortId> had_several_;
  std::vector<PortSegment> segments_;
  std::map<PortId, std::size_t> place_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_PORT_SEGMENTS_H_
