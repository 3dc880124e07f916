// Who waits for what: slots, places in send queues, and credits, as the circuits of a running world hold and need them.
// As long as it has no cycle no state of the world is a deadlock.
//
// The argument is that of W. J. Dally, C. L. Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection
// Networks", IEEE Trans. Computers C-36(5), 1987, with slots in the place of channels.
#ifndef CABLEWAY_SIM_SIMTEST_RULES_RESOURCE_GRAPH_H_
#define CABLEWAY_SIM_SIMTEST_RULES_RESOURCE_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/prediction/circuit_world.h"

namespace cableway::sim {

class ResourceGraph {
 public:
  // What something is, not where it happens to lie: two are one if their identities are.
  using Identity = const void*;

  // Whoever holds `held` may wait for `needed` before giving it back.
  void add(Identity held, const std::string& held_name, Identity needed, const std::string& needed_name);

  // The resources of a cycle, the first one again at the end; empty: there is none.
  std::vector<std::string> find_cycle() const;
  std::size_t resources() const { return names_.size(); }
  std::size_t waits() const { return waits_; }

 private:
  std::size_t number(Identity identity, const std::string& name);

  std::unordered_map<Identity, std::size_t> numbers_;  // looked up, never gone through
  std::vector<std::string> names_;
  std::vector<std::vector<std::size_t>> needs_;
  std::size_t waits_ = 0;
};

// Which slot a slot is: itself, but for tests that want to know what sharing would do.
using SlotIdentity = std::function<ResourceGraph::Identity(routing::NodeIndex node, const Slot* slot)>;

// Adds what the world's circuits hold and may wait for now: a chunk in any slot of a circuit's needs the circuit's
// place in the queue of the next hop; what is there needs the hop's credit; and that comes back when the next relay has
// a slot: for certain its circuit's own, since nobody waits for leases.
void add_waits(const CircuitWorld& world, const SlotIdentity& identity, ResourceGraph& graph);
void add_waits(const CircuitWorld& world, ResourceGraph& graph);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_RULES_RESOURCE_GRAPH_H_
