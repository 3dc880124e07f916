// A node's relay in virtual time: its circuits (core/relay/relay_circuit.h), the slots that they lease, and the time
// that its one thread needs per chunk.
#ifndef CABLEWAY_SIM_CABLE_RELAY_HOST_H_
#define CABLEWAY_SIM_CABLE_RELAY_HOST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/relay/relay_circuit.h"
#include "sim/cable/hop_direction.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

struct RelayFacts {
  std::size_t slot_bytes = 0;  // 0: payloads are only counted
  std::size_t leases = 128;    // slots in the node's pool
  std::size_t leases_per_circuit = 1;
  Duration chunk_time{0};  // of the relay's thread, per chunk
  Duration rest_every = std::chrono::milliseconds(250);
};

class RelayHost;

// One circuit through a node. Moves when one of its links wakes it, and stores the status with which it ended.
class RelayedCircuit final : public LinkUser, private Occurrence {
 public:
  // Links and pool outlive this.
  RelayedCircuit(RelayHost& host, ChunkLink& upstream, ChunkLink& downstream, std::unique_ptr<Slot> floor,
                 SlotPool& pool, RelayNames names, RelayEgress egress);

  void wake() override;
  RelayCircuit& circuit() { return circuit_; }
  const RelayCircuit& circuit() const { return circuit_; }
  const absl::Status& status() const { return status_; }
  // Nothing is scheduled for it.
  bool idle() const { return !scheduled_; }

 private:
  void occur(std::uint64_t) override;
  void move();

  RelayHost& host_;
  RelayCircuit circuit_;
  absl::Status status_;
  bool scheduled_ = false;
};

class RelayHost final : private Occurrence {
 public:
  RelayHost(VirtualClock& clock, const RelayFacts& facts);

  std::unique_ptr<RelayedCircuit> add(ChunkLink& upstream, ChunkLink& downstream, RelayNames names,
                                      RelayEgress egress = {});
  std::unique_ptr<Slot> make_floor() const { return std::make_unique<MemorySlot>(facts_.slot_bytes); }
  // Uses that floor and this host's pool, or, between links of another transport, slots of the matching kind.
  std::unique_ptr<RelayedCircuit> add(ChunkLink& upstream, ChunkLink& downstream, std::unique_ptr<Slot> floor,
                                      SlotPool& pool, RelayNames names, RelayEgress egress);
  void remove(RelayedCircuit& circuit);

  std::size_t circuits() const { return circuits_.size(); }
  std::size_t max_circuits() const { return max_circuits_; }
  SlotPool& pool() { return pool_; }
  const SlotPool& pool() const { return pool_; }
  // Applies from now on.
  void set_chunk_time(Duration time) { facts_.chunk_time = time; }
  // While it stands still its circuits do not move; afterwards all of them move.
  void stand_still(bool still);

 private:
  friend class RelayedCircuit;
  // For rest_later(): calls tick() of every circuit at regular intervals while any lease is held, since no other event
  // would release them.
  void occur(std::uint64_t what) override;
  void rest_later();
  void rest();
  // Checks the gates of alternates that have found their port in use, repeatedly until no alternate waits.
  void look_later();
  void look_at_gates();

  VirtualClock& clock_;
  RelayFacts facts_;
  SlotPool pool_;
  std::vector<RelayedCircuit*> circuits_;
  std::size_t max_circuits_ = 0;
  Instant free_at_;  // when its thread becomes idle
  bool resting_ = false;
  bool looking_ = false;
  bool still_ = false;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_RELAY_HOST_H_
