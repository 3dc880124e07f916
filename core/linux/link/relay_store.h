// Where a relay stores chunks: one slot for each circuit, its own for the circuit's lifetime (the floor), and a pool of
// further slots that busy circuits lease (core/relay/slot_pool.h). One store for each kind of slot:
// core/linux/tcp/pipe_store.h and core/linux/relay/rdma_relay_memory.h.
#ifndef CABLEWAY_CORE_LINUX_LINK_RELAY_STORE_H_
#define CABLEWAY_CORE_LINUX_LINK_RELAY_STORE_H_

#include <algorithm>
#include <memory>

#include "absl/status/statusor.h"
#include "core/linux/link/host_end.h"
#include "core/relay/slot_pool.h"

namespace cableway::host {

class RelayStore {
 public:
  RelayStore() = default;
  virtual ~RelayStore() = default;
  RelayStore(const RelayStore&) = delete;
  RelayStore& operator=(const RelayStore&) = delete;

  virtual SlotKind kind() const = 0;
  // For a circuit between these two ends; from then on the pool's slots serve them too. Call during set-up only, from
  // one thread. ResourceExhausted names the limit to raise.
  virtual absl::StatusOr<std::unique_ptr<Slot>> make_floor(const HostEnd& upstream, const HostEnd& downstream) = 0;
  // Used by the relaying thread; its counters are readable from any thread.
  virtual SlotPool& pool() = 0;
};

// The kind of slot that serves both ends of a circuit at this relay.
inline SlotKind slots_between(const HostEnd& upstream, const HostEnd& downstream) {
  return std::max(upstream.slots(), downstream.slots());
}

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_RELAY_STORE_H_
