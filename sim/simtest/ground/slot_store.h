// Where a relay of a simulation test stores chunks, as core/linux/link/relay_store.h on a host: floors, and a pool of
// leases. One store for each kind of slot that the node has.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_SLOT_STORE_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_SLOT_STORE_H_

#include <memory>

#include "core/flow/chunk_link.h"
#include "core/relay/slot_pool.h"
#include "sim/simtest/ground/sim_end.h"

namespace cableway::sim {

class SlotStore {
 public:
  SlotStore() = default;
  virtual ~SlotStore() = default;
  SlotStore(const SlotStore&) = delete;
  SlotStore& operator=(const SlotStore&) = delete;

  virtual SlotKind kind() const = 0;
  // What its leases are called when a rule is broken.
  virtual const char* leases_name() const = 0;
  // For a circuit between these two ends.
  virtual std::unique_ptr<Slot> make_floor(const SimEnd& upstream, const SimEnd& downstream) = 0;
  virtual SlotPool& pool() = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_SLOT_STORE_H_
