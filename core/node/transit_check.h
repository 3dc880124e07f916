// Decides whether this node may relay a circuit between two neighbours, by the topology, by this node's adjacencies,
// since any holder of the key can hide a cable from the topology for a moment, and by the ports that the next neighbour
// has announced. So an untrusted peer cannot choose where a relay connects to. Why: docs/decisions/0028.
#ifndef CABLEWAY_CORE_NODE_TRANSIT_CHECK_H_
#define CABLEWAY_CORE_NODE_TRANSIT_CHECK_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"
#include "core/clock.h"
#include "core/discovery/neighbours.h"
#include "core/flooding/told_ports.h"
#include "core/node/path_planner.h"

namespace cableway {

// One thread: the node's.
class TransitCheck {
 public:
  // All references must outlive this. `hello_interval`: of this node. `draining`: this node's cables that it takes out
  // of use.
  TransitCheck(const Neighbours& neighbours, const ToldPorts& told, const Clock& clock, Duration hello_interval,
               const std::set<std::string>& draining);

  // As PathPlanner::check_transit(), but also for cables that the topology lacks, if their adjacencies are up. The next
  // neighbour must have announced the TCP port, of a process or of its relay, over that cable. Unavailable: pulses
  // distrust one of the cables, or it drains by this node. NotFound: the set-up may wait. InvalidArgument: it is not
  // for this node's relay, or names other addresses or another port of the next relay. `relay_port`: this node's.
  absl::Status check(const CircuitSetup& setup, const PathPlanner& planner, std::uint16_t relay_port) const;

 private:
  using Entry = std::pair<const NeighbourKey, Neighbour>;

  absl::Status check_own_drains(const CircuitSetup& setup) const;
  bool are_up(const CircuitSetup& setup, std::uint16_t relay_port) const;
  absl::Status check_told(const Hop& next, bool to_process) const;
  absl::Status check_process(const NeighbourKey& adjacency, const Hop& next) const;
  absl::Status check_relay(const NeighbourKey& adjacency, const Hop& next) const;
  std::string refusal(const Hop& next) const;
  std::vector<const Entry*> ends_of(const std::string& cable, const std::string& neighbour) const;

  const Neighbours& neighbours_;
  const ToldPorts& told_;
  const Clock& clock_;
  const Duration hello_interval_;
  const std::set<std::string>& draining_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_TRANSIT_CHECK_H_
