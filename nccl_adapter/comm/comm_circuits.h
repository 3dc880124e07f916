// The circuits of a comm's flow at this host: the hop of each circuit, by slot, and which circuits have ended.
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

// A circuit that has ended, and the bytes of it that were sent again (CircuitEnd).
struct CountedEnd {
  CircuitName circuit{0, 0};
  bool counted = false;
  std::uint64_t bytes_again = 0;
};

// One thread at a time: its comm's mutex must be held.
class CommCircuits {
 public:
  // All arguments must outlive this. `stamps`: those of this host's ports; may be null.
  CommCircuits(CircuitOwner& flow, FlowMemory& memory, PortStampPage* stamps)
      : flow_(flow), memory_(memory), stamps_(stamps) {}

  // A circuit's hop is open here. Registers the flow's memory with the hop's device, if it has one, and adds the
  // circuit to the flow. The status gives the reason why that failed; the hop is then fenced.
  absl::Status join(const CircuitSetup& setup, std::unique_ptr<host::HopLink> hop, HopEnd end,
                    std::uint32_t chunk_bytes);
  // The path of the circuit whose end left the flow without one, or else of the one that carries it.
  const std::string& path() const;
  // The number of circuits joined since construction.
  std::size_t joined() const { return joined_; }
  // To be called after circuits have ended: their devices are no longer needed.
  void note_ended();
  // Ends circuits whose hops have failed without a signal from the connection (HopLink::check()).
  void check();
  // To be called before progress() of an idle flow, so that data on the connections beside RDMA hops is handled at
  // once. Otherwise links read these connections only after many polls.
  void look_at_connections();
  // Ends circuits whose hop here uses that port.
  void lose_port(const PortLost& lost);
  // The live circuits, by slot. Generation 0: none.
  std::array<CircuitName, kMaxFlowCircuits> live() const;
  // Whether a hop of a live circuit needs polls while the flow is idle (HopLink::needs_idle_polls()).
  bool needs_idle_polls() const;

  // The circuit to make the primary (core/flow_circuits/circuit_preference.h). nullopt: none has lived long enough.
  std::optional<CircuitName> best() const;

  // The circuits that have ended since the last call, and why the last of them ended.
  struct Ended {
    std::vector<CircuitName> circuits;
    std::vector<CircuitEnd> ends;  // of those, and of others whose slots have been reused
    absl::Status reason;
    std::uint64_t corruptions = 0;  // CircuitOwner::corruptions(), since the last call
    absl::Status last_corruption;
  };
  Ended take_ended();
  // By slot: what is known of the circuit that ended last, once the destination has counted.
  std::array<CountedEnd, kMaxFlowCircuits> counted() const;

  // Ends all circuits because the flow ends. The other end gets the reason over the live ones.
  void fail(const std::string& reason);
  // Ends all circuits and frees their hops.
  void end_all();
  // Connections that are no longer used, for draining: those of circuits whose slots have been reused, and those of
  // end_all().
  std::vector<host::UniqueFd> take_sockets();

 private:
  struct Circuit {
    CircuitName name;
    std::unique_ptr<host::HopLink> hop;  // null: the slot has had no hop, or the hop was given up
    HopEnd end;
    std::string path;  // describe_path()
    CircuitPreference preference;
    std::chrono::steady_clock::time_point since;
    bool reported = false;  // take_ended() has reported its end
    bool delivers = true;   // its connection may still deliver data that it holds; false: its whole port is lost
  };

  void take_socket(Circuit& circuit);
  bool is_live(const Circuit& circuit) const { return circuit.hop != nullptr && flow_.is_live(circuit.name); }

  CircuitOwner& flow_;
  FlowMemory& memory_;
  PortStampPage* const stamps_;
  std::array<Circuit, kMaxFlowCircuits> circuits_;  // by slot
  std::size_t joined_ = 0;
  std::uint64_t corruptions_ = 0;     // reported by take_ended()
  std::vector<CircuitEnd> replaced_;  // ended and replaced before take_ended()
  std::vector<host::UniqueFd> unused_sockets_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_COMM_CIRCUITS_H_
