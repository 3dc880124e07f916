// Measures the latency of every cable from the hellos that cross it.
#ifndef CABLEWAY_CORE_DISCOVERY_CABLE_LATENCIES_H_
#define CABLEWAY_CORE_DISCOVERY_CABLE_LATENCIES_H_

#include <map>

#include "core/clock.h"
#include "core/discovery/hello_round_trip.h"
#include "core/discovery/latency_estimate.h"
#include "core/discovery/neighbour.h"
#include "core/discovery/port_hello.h"
#include "routing/topology/node_id.h"

namespace cableway {

// One thread: the node's.
class CableLatencies {
 public:
  // Records that a hello is sent now, and returns the echo for the neighbour in it.
  HelloEcho echo(const NeighbourKey& key, Instant now) { return meters_[key].round_trip.echo(now); }
  // A hello of the neighbour has arrived. `us`: its entry about this node's port, or null.
  void hear(const NeighbourKey& key, const PortHello& hello, const HeardNeighbour* us, Instant arrival);
  // The adjacency came up again, possibly over another cable: discards its measurements.
  void restart(const NeighbourKey& key, Neighbour& neighbour);
  void forget(const NeighbourKey& key) { meters_.erase(key); }
  // Sets the latencies of neighbours that are up: new ones at most once a second, changed ones at most every 10 s, so
  // that a node advertises those of several cables together. Returns whether it set any. Call it with every hello.
  bool publish(std::map<NeighbourKey, Neighbour>& neighbours, Instant now);

 private:
  struct Meter {
    HelloRoundTrip round_trip;
    LatencyEstimate estimate;
  };

  std::map<NeighbourKey, Meter> meters_;
  Instant published_at_;
  Instant revised_at_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_CABLE_LATENCIES_H_
