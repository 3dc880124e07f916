// The waits between slots, places in send queues, and credits that the circuits of a running world hold and need. While
// this graph has no cycle, no state of the world is a deadlock.
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
  // Identifies a resource independently of its address: two resources with equal identities are one.
  using Identity = const void*;

  // The holder of `held` may wait for `needed` before releasing it.
  void add(Identity held, const std::string& held_name, Identity needed, const std::string& needed_name);

  // The resources of a cycle, with the first one repeated at the end; empty if there is none.
  std::vector<std::string> find_cycle() const;
  std::size_t resources() const { return names_.size(); }
  std::size_t waits() const { return waits_; }

 private:
  std::size_t number(Identity identity, const std::string& name);

  std::unordered_map<Identity, std::size_t> numbers_;  // only looked up, never iterated
  std::vector<std::string> names_;
  std::vector<std::vector<std::size_t>> needs_;
  std::size_t waits_ = 0;
};

// The identity of a slot: its address, except in tests that examine shared slots.
using SlotIdentity = std::function<ResourceGraph::Identity(routing::NodeIndex node, const Slot* slot)>;

// Adds what the world's circuits hold and may wait for now: a chunk in any slot of a circuit needs the circuit's place
// in the queue of the next hop; that place needs the hop's credit; and the credit returns when the next relay has a
// slot: in any case the circuit's own, since no circuit waits for leases.
void add_waits(const CircuitWorld& world, const SlotIdentity& identity, ResourceGraph& graph);
void add_waits(const CircuitWorld& world, ResourceGraph& graph);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_RULES_RESOURCE_GRAPH_H_
