// The payload that the circuits of a flow have carried: at its source what was given to them, at its destination what
// has landed; and at its source, for how long they stalled or were kept away. For display, and to tell when a flow
// stands still.
//
// One thread at a time. Allocates nothing.
#ifndef CABLEWAY_CORE_FLOW_FLOW_TRAFFIC_H_
#define CABLEWAY_CORE_FLOW_FLOW_TRAFFIC_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/clock.h"
#include "core/flow/circuit_name.h"

namespace cableway {

class FlowTraffic {
 public:
  // A circuit begins to carry the flow.
  void began(const CircuitName& circuit) {
    by_slot_[circuit.slot] = 0;
    waits_[circuit.slot] = {};
  }
  // A message that may be striped was posted.
  void posted_large(std::uint64_t bytes) { large_bytes_ += bytes; }
  // A chunk went over it.
  void carried(const CircuitName& circuit, std::uint64_t bytes) {
    by_slot_[circuit.slot] += bytes;
    bytes_ += bytes;
    ++chunks_;
    last_ = circuit;
  }
  // Nothing landed over the circuit in this slot for so long, although it had chunks to carry. That is over now.
  void stalled(std::size_t slot, Duration time) { waits_[slot].stalled = waits_[slot].stalled + time; }
  // It is an alternate that was kept away by its gate for so long, while there was something to send.
  void kept_away(std::size_t slot, Duration time) { waits_[slot].kept_away = waits_[slot].kept_away + time; }
  // Of what was carried, so many bytes were sent before, over a circuit that has ended.
  void repeated(std::uint64_t bytes) { bytes_again_ += bytes; }

  std::uint64_t chunks() const { return chunks_; }
  // Without what was sent again.
  std::uint64_t bytes() const { return bytes_ - bytes_again_; }
  std::uint64_t bytes_again() const { return bytes_again_; }
  // Of the messages that may be striped.
  std::uint64_t large_bytes() const { return large_bytes_; }
  // Over the circuit that is, or was last, in this slot.
  std::uint64_t bytes_over(std::size_t slot) const { return by_slot_[slot]; }
  Duration stalled(std::size_t slot) const { return waits_[slot].stalled; }
  Duration kept_away(std::size_t slot) const { return waits_[slot].kept_away; }
  // The circuit of the newest chunk; generation 0: there was none.
  const CircuitName& last() const { return last_; }

 private:
  struct Waits {
    Duration stalled{};
    Duration kept_away{};
  };

  std::array<std::uint64_t, kMaxFlowCircuits> by_slot_{};
  std::array<Waits, kMaxFlowCircuits> waits_{};
  std::uint64_t bytes_ = 0;
  std::uint64_t large_bytes_ = 0;
  std::uint64_t bytes_again_ = 0;
  std::uint64_t chunks_ = 0;
  CircuitName last_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FLOW_TRAFFIC_H_
