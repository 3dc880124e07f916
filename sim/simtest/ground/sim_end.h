// One end of a simulation test's hop over a transport: extends the interface of core/circuit/transport.h by what a
// relay needs of it, as core/linux/link/host_end.h does on a host.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_SIM_END_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_SIM_END_H_

#include <cstddef>
#include <optional>

#include "core/circuit/transport.h"
#include "core/relay/slot_kind.h"

namespace cableway::sim {

class SimEnd : public TransportEnd {
 public:
  // The kind of slot that a relay's chunks need to cross it (slot_store.h makes slots).
  virtual SlotKind slots() const = 0;
  // The number of its device (RegisteredSlot::keys); nullopt: memory is not registered.
  virtual std::optional<std::size_t> device() const { return std::nullopt; }
};

// Every end in a simulation test is one.
inline const SimEnd& sim_end(const TransportEnd& end) {
  return static_cast<const SimEnd&>(end);
}

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_SIM_END_H_
