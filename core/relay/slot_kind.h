// The kind of memory in which a relay stores chunks: a property of each end of a hop, which selects the relay's
// store.
#ifndef CABLEWAY_CORE_RELAY_SLOT_KIND_H_
#define CABLEWAY_CORE_RELAY_SLOT_KIND_H_

#include <algorithm>
#include <cstdint>

namespace cableway {

// A circuit uses the greater of the kinds that its two hops need, which works for both.
enum class SlotKind : std::uint8_t {
  kUnregistered,  // on a host: pipes
  kRegistered,    // memory that is registered with a device
};

// The kind for a circuit between two hop ends at a relay.
template <typename End>
SlotKind slots_between(const End& upstream, const End& downstream) {
  return std::max(upstream.slots(), downstream.slots());
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_RELAY_SLOT_KIND_H_
