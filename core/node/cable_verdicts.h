// Which cables of a node are pulsed, and what the verdicts of its pulses (core/pulse/pulses.h) do: the node offers no
// path over a cable that is not trusted, and circuits over it end.
//
// A verdict is its node's alone: it is not flooded, and the topology keeps the cable until no hello has arrived for the
// hold time. That a cable loses packets is flooded: all use it last. One thread: the node's.
#ifndef CABLEWAY_CORE_NODE_CABLE_VERDICTS_H_
#define CABLEWAY_CORE_NODE_CABLE_VERDICTS_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/event/event_sink.h"
#include "core/node/doubted_cable.h"
#include "core/node/node.h"
#include "core/ports/port_lost.h"
#include "core/pulse/cable_judge.h"
#include "core/pulse/pulsed_cable.h"

namespace cableway {

// The node's cables that are up.
std::vector<PulsedCable> pulsed_cables(const Node& node);

// For events about a pulsed cable, and their texts: "cable eth0 to node n2".
EventFields pulse_fields(const PulsedCable& cable, const std::string& reason);
std::string pulse_text(const PulsedCable& cable);

class CableVerdicts {
 public:
  struct Listener {
    // Circuits over it must end. Called after the node has stopped offering paths over the cable.
    std::function<void(PortLost)> lost;
    // A cable can be used again, perhaps only where there is no other path (proving).
    std::function<void()> usable;
  };

  // `node` must outlive this.
  CableVerdicts(Node& node, Listener listener) : node_(node), listener_(std::move(listener)) {}

  // In the order in which the pulses have found them.
  void act(const PulsedCable& cable, const CableVerdict& verdict);
  // The cable loses that many percent of what its neighbour sends; 0: it no longer counts as lossy.
  void lose(const PulsedCable& cable, unsigned percent);
  // By the cable's name: what is said of those that lose packets.
  const std::map<std::string, std::string>& lossy() const { return lossy_; }
  // Those that are not fully trusted now; the topology may or may not have them.
  const DoubtedCables& doubted() const { return doubted_; }

 private:
  Node& node_;
  const Listener listener_;
  DoubtedCables doubted_;
  std::map<std::string, std::string> lossy_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_CABLE_VERDICTS_H_
