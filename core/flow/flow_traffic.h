// Counts the payload that a flow's circuits have carried: at the source what was given to them, at the destination
// what has landed. At the source it also records how long they stalled or were kept away. For display, and for
// detecting that a flow is stalled.
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
  // A message large enough for striping was posted.
  void posted_large(std::uint64_t bytes) { large_bytes_ += bytes; }
  // A chunk went over the circuit.
  void carried(const CircuitName& circuit, std::uint64_t bytes) {
    by_slot_[circuit.slot] += bytes;
    bytes_ += bytes;
    ++chunks_;
    last_ = circuit;
  }
  // The circuit in this slot had chunks to carry, but nothing landed over it for `time`. That stall is over.
  void stalled(std::size_t slot, Duration time) { waits_[slot].stalled = waits_[slot].stalled + time; }
  // The circuit is an alternate that its gate kept away for `time` while there was data to send.
  void kept_away(std::size_t slot, Duration time) { waits_[slot].kept_away = waits_[slot].kept_away + time; }
  // Of the bytes carried, `bytes` had been sent before over a circuit that has ended.
  void repeated(std::uint64_t bytes) { bytes_again_ += bytes; }

  std::uint64_t chunks() const { return chunks_; }
  // Excludes bytes that were sent again.
  std::uint64_t bytes() const { return bytes_ - bytes_again_; }
  std::uint64_t bytes_again() const { return bytes_again_; }
  // The bytes of messages large enough for striping.
  std::uint64_t large_bytes() const { return large_bytes_; }
  // The bytes over the current or most recent circuit in this slot.
  std::uint64_t bytes_over(std::size_t slot) const { return by_slot_[slot]; }
  Duration stalled(std::size_t slot) const { return waits_[slot].stalled; }
  Duration kept_away(std::size_t slot) const { return waits_[slot].kept_away; }
  // The circuit of the newest chunk. Generation 0: no chunk yet.
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
