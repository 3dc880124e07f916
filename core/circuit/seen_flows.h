// Circuits that have been set up with a listener, by flow and name, so that an overheard set-up cannot be replayed.
#ifndef CABLEWAY_CORE_CIRCUIT_SEEN_FLOWS_H_
#define CABLEWAY_CORE_CIRCUIT_SEEN_FLOWS_H_

#include <cstddef>
#include <deque>
#include <set>
#include <tuple>

#include "core/circuit/circuit_setup.h"

namespace cableway {

// Remembers the last kMax circuits, in about 100 bytes each. That is enough, since NCCL connects to one handle only a
// few times, and each listener has its own set.
class SeenFlows {
 public:
  static constexpr std::size_t kMax = 4096;

  // Records the circuit. Returns whether it is new.
  bool first_use(const FlowNonce& nonce, const CircuitName& circuit) {
    const auto [place, fresh] = seen_.insert(entry(nonce, circuit));
    if (!fresh) return false;
    order_.push_back(place);
    if (order_.size() > kMax) {
      seen_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }
  bool contains(const FlowNonce& nonce, const CircuitName& circuit) const {
    return seen_.contains(entry(nonce, circuit));
  }

 private:
  using Entry = std::tuple<FlowNonce, std::uint8_t, std::uint32_t>;

  static Entry entry(const FlowNonce& nonce, const CircuitName& circuit) {
    return {nonce, circuit.slot, circuit.generation};
  }

  std::set<Entry> seen_;
  std::deque<std::set<Entry>::const_iterator> order_;  // the oldest first
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_SEEN_FLOWS_H_
