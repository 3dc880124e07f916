// The nonces of flows that have been set up with a listener, so that an overheard set-up cannot be replayed.
#ifndef CABLEWAY_CORE_CIRCUIT_SEEN_FLOWS_H_
#define CABLEWAY_CORE_CIRCUIT_SEEN_FLOWS_H_

#include <cstddef>
#include <deque>
#include <set>

#include "core/circuit/circuit_setup.h"

namespace cableway {

// Remembers the last kMax of them, in about 100 bytes each. NCCL connects to one handle only a few times, and each
// listener has its own set.
class SeenFlows {
 public:
  static constexpr std::size_t kMax = 4096;

  // Whether the nonce is new. Records it.
  bool first_use(const FlowNonce& nonce) {
    const auto [place, fresh] = nonces_.insert(nonce);
    if (!fresh) return false;
    order_.push_back(place);
    if (order_.size() > kMax) {
      nonces_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

 private:
  std::set<FlowNonce> nonces_;
  std::deque<std::set<FlowNonce>::const_iterator> order_;  // the oldest first
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_SEEN_FLOWS_H_
