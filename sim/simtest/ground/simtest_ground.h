// State shared by the parts of a simulation test: nodes, cables, hosts, trace and rules.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_SIMTEST_GROUND_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_SIMTEST_GROUND_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/circuit/hop.h"
#include "core/circuit/hop_dial.h"
#include "core/gate/port_stamps.h"
#include "core/ports/port_lost.h"
#include "core/pulse/cable_judge.h"
#include "core/pulse/pulsed_cable.h"
#include "routing/topology/cable_name.h"
#include "sim/cable/relay_host.h"
#include "sim/nodes/node_world.h"
#include "sim/simtest/ground/cable_plant.h"
#include "sim/simtest/ground/setup_door.h"
#include "sim/simtest/ground/slot_store.h"
#include "sim/simtest/plan/simtest_plan.h"
#include "sim/simtest/rules/port_shares.h"
#include "sim/simtest/rules/rules.h"
#include "sim/simtest/rules/trace_hash.h"

namespace cableway::sim {

// The parts of a host other than the node itself (core/node/node.h).
struct SimtestHost {
  std::unique_ptr<PortStampPage> stamps = std::make_unique<PortStampPage>();
  std::unique_ptr<RelayHost> relay;
  std::vector<std::unique_ptr<SlotStore>> stores;  // one for each kind of slot that the host has
  bool refuses = false;                            // set-ups that would be relayed
  Duration application_takes{0};                   // between a wake-up and polling
  Duration longest_stall{0};                       // of its threads (host_stalls.h)

  // Precondition: the host has this kind.
  SlotStore& store(SlotKind kind) const {
    return **std::find_if(stores.begin(), stores.end(), [kind](const auto& each) { return each->kind() == kind; });
  }
  std::size_t leased() const {
    std::size_t sum = 0;
    for (const std::unique_ptr<SlotStore>& store : stores) sum += store->pool().leased();
    return sum;
  }
};

// The TCP port on which a node's applications listen; nodes listen at their relay ports.
inline constexpr std::uint16_t kApplicationPort = 20000;

class NodeProcess;
class ProcessMeans;

// What a node tells the processes that have a session with it; and its pulses' verdicts, before it acts on them.
struct NodeTells {
  std::function<void(std::size_t node, const PortLost& lost)> lost;
  std::function<void(std::size_t node)> paths_changed;
  std::function<void(std::size_t node, const PulsedCable& cable, const CableVerdict& verdict)> verdict;
};

// A circuit that has ended, and that its source has not left by itself.
struct FailedCircuit {
  std::size_t flow = 0;
  const std::vector<Hop>& path;
  const std::string& reason;
};

struct SimtestGround {
  const SimtestPlan& plan;
  NodeWorld& nodes;
  CablePlant& plant;
  std::vector<SimtestHost>& hosts;
  SetupTools& tools;
  std::vector<std::unique_ptr<SimConnector>>& connectors;  // by node
  std::vector<std::unique_ptr<NodeProcess>>& processes;    // by node
  std::vector<std::unique_ptr<ProcessMeans>>& means;       // by node, of its applications
  NodeTells told;
  PortShares& port_shares;
  TraceHash& trace;
  RuleBook& rules;
  std::function<void(const FailedCircuit&)> circuit_failed;

  VirtualClock& clock() const { return nodes.clock(); }
  // The dialing context of processes on that node.
  HopDial::Means means_of(std::size_t node) const {
    return {clock(), *connectors[node], tools.transports, [this] { return tools.challenges.next(); }};
  }
  static std::string name(std::size_t node) { return "n" + std::to_string(node); }

  std::string interface_of(std::size_t node, PortId port) const {
    for (const PortFacts& facts : nodes.fabric().ports_of(node).ports()) {
      if (facts.id == port) return facts.interface;
    }
    return "";
  }
  // Of the cable between these two places of a segment, as nodes call it.
  std::string cable_name(std::size_t segment, std::size_t end, std::size_t other) const {
    const auto& [a, port_a] = nodes.fabric().ends_of(segment)[end];
    const auto& [b, port_b] = nodes.fabric().ends_of(segment)[other];
    return routing::discovered_cable_name(name(a), interface_of(a, port_a), name(b), interface_of(b, port_b));
  }
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_SIMTEST_GROUND_H_
