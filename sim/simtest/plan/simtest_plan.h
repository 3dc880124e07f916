// The complete input of a simulation test: a graph, flows over it, faults. Derived from a seed.
#ifndef CABLEWAY_SIM_SIMTEST_PLAN_SIMTEST_PLAN_H_
#define CABLEWAY_SIM_SIMTEST_PLAN_SIMTEST_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/clock.h"
#include "core/flow/circuit_share.h"
#include "sim/simtest/plan/fault.h"

namespace cableway::sim {

struct CablePlan {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  // At both ends; "": its own connector. Cables of one plug are one wire: a datagram on one is received on both.
  std::string plug;
  bool plug_is_reported = true;  // by the hardware; else nodes have to detect it
  // Whether the port there has an RDMA device: a hop uses RDMA if both ports have one.
  bool rdma_at_a = false;
  bool rdma_at_b = false;
};

struct ShapePlan {
  std::uint32_t nodes = 2;
  std::vector<CablePlan> cables;              // numbered from 0 in this order
  std::vector<std::uint32_t> switch_members;  // nodes with a port on one more segment, numbered after the cables
  bool rdma_at_switch = false;                // at all of its ports
  std::vector<std::uint32_t> draining;
  std::size_t segments() const { return cables.size() + (switch_members.empty() ? 0 : 1); }
};

struct MessagePlan {
  std::uint64_t bytes = 0;
  std::uint64_t capacity = 0;  // of its receive; if smaller than `bytes`, the send has to fail
  Duration source_waits{0};    // before posting it
  Duration destination_waits{0};
};

struct FlowPlan {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint64_t ordinal = 0;
  Duration begins{0};
  std::uint32_t in_flight = 1;  // messages, 1 to 32
  std::uint32_t chunk_bytes = 65536;
  std::uint32_t attempts = 8;  // to set up its circuit
  std::vector<MessagePlan> messages;
};

// Parameters of RDMA hops (rdma_wire.h, stub_network.h, stub_relay_memory.h).
struct RdmaPlan {
  Duration gives_up_after = std::chrono::milliseconds(537);
  Duration max_lag{0};
  std::size_t max_late_writes = 0;
  std::size_t leases = 16;
  std::size_t leases_per_circuit = 15;
};

struct SimtestPlan {
  std::uint64_t seed = 0;
  ShapePlan shape;
  std::vector<FlowPlan> flows;
  FaultPlan faults;
  bool sealed = false;  // with a key: the only way to detect a changed datagram
  std::chrono::milliseconds hello{100};
  std::chrono::milliseconds hold{1000};
  std::uint64_t bytes_per_second = 1'250'000'000;  // of each cable and direction
  std::uint64_t window_bytes = 512U << 10;
  std::size_t leases = 16;         // of each node's relay
  std::size_t max_circuits = 256;  // limit of each node's relay
  std::uint32_t slot_bytes = 65536;
  RdmaPlan rdma;
  std::chrono::milliseconds path_wait{30'000};  // as the setting of that name
  std::size_t circuits = 1;                     // that each flow wants, on different paths
  // That flows have from the start: none, their bundles, or alternates, too.
  CircuitShare shares = CircuitShare::kNone;
  // The time after the last fault within which everything has to end. A flow may lose its path, wait for it, and then
  // be opened eight times in vain.
  Duration limit = std::chrono::seconds(150);
  std::chrono::milliseconds pulse{0};  // as the setting of that name
  Duration stalls{0};                  // the longest of each host's threads (ground/host_stalls.h)
  // The longest that a packet waits at a port for those of other priority that are leaving.
  Duration port_wait{0};
  // The world ends at this time, and what is unfinished then is no failure. 0: when it has come to rest.
  Duration ends{0};
  std::size_t kept_messages = SIZE_MAX;  // of each flow and end, to find late writes into their memory
};

SimtestPlan make_simtest_plan(std::uint64_t seed);

// The number of targets for faults of this kind: a fault's target is below it. 1 if there is none.
std::uint64_t target_count(const SimtestPlan& plan, FaultKind kind);
// InvalidArgument names the first fault with a target that does not exist, and what was expected.
absl::Status check_targets(const SimtestPlan& plan);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_PLAN_SIMTEST_PLAN_H_
