// The circuits of a comm's flow at this host: the hop of each, by slot, and which of them have ended.
#ifndef CABLEWAY_NCCL_ADAPTER_COMM_COMM_CIRCUITS_H_
#define CABLEWAY_NCCL_ADAPTER_COMM_COMM_CIRCUITS_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop_names.h"
#include "core/flow/circuit_end.h"
#include "core/flow/circuit_name.h"
#include "core/flow/circuit_owner.h"
#include "core/flow_circuits/circuit_preference.h"
#include "core/gate/port_stamps.h"
#include "core/linux/link/hop_link.h"
#include "core/linux/os/unique_fd.h"
#include "core/ports/port_lost.h"
#include "nccl_adapter/memory/flow_memory.h"

namespace cableway::nccl {

// A circuit that has ended, and what of it was sent again (CircuitEnd).
struct CountedEnd {
  CircuitName circuit{0, 0};
  bool counted = false;
  std::uint64_t bytes_again = 0;
};

// One thread at a time: its comm's mutex must be held.
class CommCircuits {
 public:
  // All must outlive this. `stamps`: of this host's ports; may be null.
  CommCircuits(CircuitOwner& flow, FlowMemory& memory, PortStampPage* stamps)
      : flow_(flow), memory_(memory), stamps_(stamps) {}

  // A circuit's hop is open here. Registers the flow's memory with the device of the hop, if it has one, and has the
  // circuit carry the flow. The status tells why it cannot; the hop is fenced then.
  absl::Status join(const CircuitSetup& setup, std::unique_ptr<host::HopLink> hop, HopEnd end,
                    std::uint32_t chunk_bytes);
  // The path of the circuit whose end left the flow without one, or else of the one that carries it.
  const std::string& path() const;
  // Since construction.
  std::size_t joined() const { return joined_; }
  // To be called after circuits have ended: their devices are no longer relied on.
  void note_ended();
  // Ends those whose hops have failed without a signal from the connection (HopLink::check()).
  void check();
  // Before progress() of an idle flow: what the connections beside RDMA hops bring is handled at once. Otherwise links
  // look there after many polls only.
  void look_at_connections();
  // Ends those whose hop here is over that port.
  void lose_port(const PortLost& lost);
  // Those that are alive, by slot; generation 0: none.
  std::array<CircuitName, kMaxFlowCircuits> live() const;
  // Whether a hop of one that is alive needs polls while the flow is idle (HopLink::needs_idle_polls()).
  bool needs_idle_polls() const;

  // The one that is to be the primary (core/flow_circuits/circuit_preference.h); nullopt: none has lived for so long.
  std::optional<CircuitName> best() const;

  // Those that have ended since the last call, and why the last of them has.
  struct Ended {
    std::vector<CircuitName> circuits;
    std::vector<CircuitEnd> ends;  // of those, and of others whose slots have been used again
    absl::Status reason;
    std::uint64_t corruptions = 0;  // CircuitOwner::corruptions(), since the last call
    absl::Status last_corruption;
  };
  Ended take_ended();
  // What is known of the circuits that ended last, by slot, once the destination has counted.
  std::array<CountedEnd, kMaxFlowCircuits> counted() const;

  // Ends all, for the end of the flow: the other end gets the reason over those that are alive.
  void fail(const std::string& reason);
  // Ends all and frees their hops.
  void end_all();
  // Connections that are no longer used, for draining: of circuits whose slots have been used again, and of end_all().
  std::vector<host::UniqueFd> take_sockets();

 private:
  struct Circuit {
    CircuitName name;
    std::unique_ptr<host::HopLink> hop;  // null: the slot has had none, or it was given up
    HopEnd end;
    std::string path;  // describe_path()
    CircuitPreference preference;
    std::chrono::steady_clock::time_point since;
    bool reported = false;  // its end, by take_ended()
    bool delivers = true;   // its connection may still deliver what it holds; false: its whole port is lost
  };

  void take_socket(Circuit& circuit);
  bool is_live(const Circuit& circuit) const { return circuit.hop != nullptr && flow_.is_live(circuit.name); }

  CircuitOwner& flow_;
  FlowMemory& memory_;
  PortStampPage* const stamps_;
  std::array<Circuit, kMaxFlowCircuits> circuits_;  // by slot
  std::size_t joined_ = 0;
  std::uint64_t corruptions_ = 0;     // reported by take_ended()
  std::vector<CircuitEnd> replaced_;  // ended, and replaced before take_ended()
  std::vector<host::UniqueFd> unused_sockets_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_COMM_CIRCUITS_H_
