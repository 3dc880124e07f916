// The circuits of a flow at one of its ends in a simulation test: the hop of each, by slot, and which of them have
// ended. As nccl_adapter/comm/comm_circuits.h in a process.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_END_CIRCUITS_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_END_CIRCUITS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop_names.h"
#include "core/clock.h"
#include "core/flow/circuit_name.h"
#include "core/flow/circuit_owner.h"
#include "core/flow_circuits/circuit_preference.h"
#include "core/gate/port_stamps.h"
#include "core/ports/port_lost.h"
#include "sim/simtest/ground/cable_plant.h"
#include "sim/simtest/ground/plant_end.h"
#include "sim/simtest/ground/watched_link.h"

namespace cableway::sim {

class EndCircuits {
 public:
  // Registers the memory of messages for circuits in the slot. Null: its hop needs no keys.
  using Attach = std::function<void(std::size_t slot, StubDevice* device)>;

  // The frames that a circuit's hop reports (watched_link.h).
  struct Watch {
    std::function<void(const CircuitName&, const Frame& chunk)> gives;  // a chunk, to a circuit
    std::function<void(const CircuitName&, const Frame& frame)> takes;
  };

  // `flow`, and the stamps of its node's ports, outlive this; `user` is woken by all hops. `lands`: the flow ends here.
  EndCircuits(CircuitOwner& flow, PortStampPage& stamps, LinkUser& user, bool lands, Attach attach, Watch watch)
      : flow_(flow),
        stamps_(stamps),
        user_(user),
        lands_(lands),
        attach_(std::move(attach)),
        watch_(std::move(watch)) {}

  // Adds a circuit whose hop is open here. An error tells why the circuit cannot carry the flow; its hop has been
  // failed then. Internal: the circuit may join although a later one has joined in its slot.
  absl::Status join(const CircuitSetup& setup, PlantHop& hop, std::uint32_t chunk_bytes, Instant now);
  // The devices of the slots' circuits, null for none.
  std::array<StubDevice*, kMaxFlowCircuits> devices() const;
  // The bytes moved since construction; grows exactly when something moves.
  std::uint64_t bytes_moved() const;
  // The live circuit in the lowest slot.
  std::optional<CircuitName> first_live() const;
  // The live circuits with their paths.
  std::vector<std::pair<CircuitName, const std::vector<Hop>*>> live_paths() const;
  // Where a circuit leaves this node, and its share, until another one joins in its slot.
  const HopEnd& hop_end(const CircuitName& circuit) const { return circuits_[circuit.slot].hop_end; }
  CircuitShare share(const CircuitName& circuit) const { return circuits_[circuit.slot].share; }
  // Null: another circuit has joined in its slot.
  const std::vector<Hop>* path_of(const CircuitName& circuit) const {
    const Circuit& in_slot = circuits_[circuit.slot];
    return in_slot.name == circuit ? &in_slot.path : nullptr;
  }
  // The circuit that is to be the primary (core/flow_circuits/circuit_preference.h); nullopt: none has lived long
  // enough.
  std::optional<CircuitName> best(Instant now) const;

  // The node reports a lost port: ends the circuits over it.
  void lose_port(const PortLost& lost);
  // Whether a live circuit leaves this node, or arrives at it, over the cable.
  bool is_live_over(const PortLost& cable) const;
  // The path of a live circuit that crosses the cable at any hop; null: there is none.
  const std::vector<Hop>* live_path_over(const std::string& cable) const;

  // The circuits that have ended since the last call.
  std::vector<CircuitName> take_ended();
  // Ends all circuits. The other end gets the reason, as the flow's end, over those that are alive. OK: it gets none.
  void end_all(const absl::Status& reason);
  // The process is killed: it leaves all hops without a last frame.
  void kill_process();

 private:
  struct Circuit {
    CircuitName name;
    std::optional<PlantEnd> end;  // nullopt: the slot has had none
    bool reported = false;        // its end, by take_ended()
    CircuitPreference preference;
    Instant since;
    HopEnd hop_end;
    CircuitShare share = CircuitShare::kNone;
    std::vector<Hop> path;
  };

  bool is_live(const Circuit& circuit) const { return circuit.end.has_value() && flow_.is_live(circuit.name); }

  CircuitOwner& flow_;
  PortStampPage& stamps_;
  LinkUser& user_;
  const bool lands_;
  const Attach attach_;
  const Watch watch_;
  std::array<Circuit, kMaxFlowCircuits> circuits_;
  std::list<WatchedLink> links_;    // of all circuits
  std::uint64_t moved_before_ = 0;  // by circuits whose slots have been used again
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_END_CIRCUITS_H_
