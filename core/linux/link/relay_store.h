// Where a relay stores chunks: one slot for each circuit, its own for the circuit's lifetime (the floor), and a pool of
// further slots that busy circuits lease (core/relay/slot_pool.h). One store for each kind of slot;
// core/linux/relay/store_table.h lists those of a host.
#ifndef CABLEWAY_CORE_LINUX_LINK_RELAY_STORE_H_
#define CABLEWAY_CORE_LINUX_LINK_RELAY_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/event/event_code.h"
#include "core/event/event_sink.h"
#include "core/linux/link/host_end.h"
#include "core/relay/relay_status.h"
#include "core/relay/slot_pool.h"
#include "core/settings/settings.h"

namespace cableway::host {

// What to report while circuits wait for a store's leases.
struct LeaseShortage {
  EventCode event;
  std::string text;
};

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

  // Releases what is registered with failed devices, so that they can be closed. For the set-up thread, as
  // make_floor().
  virtual void release_lost() {}
  // Sets the member of `relay` that describes its memory; the circuits are there already. Callable from any thread.
  virtual void add_status(RelayStatus& relay) const = 0;
  // `relay_memory`: the setting's text. Callable from any thread.
  virtual LeaseShortage lease_shortage(const std::string& relay_memory) const = 0;
};

// Makes a node's store at its start. The store raises events in make_floor() only; `events` must outlive it.
using MakeRelayStore = absl::StatusOr<std::unique_ptr<RelayStore>> (*)(const Settings& settings, EventSink& events);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_RELAY_STORE_H_
