// Pipes for the chunks of circuits whose two hops go over TCP, spliced from one socket to the other.
#ifndef CABLEWAY_CORE_LINUX_TCP_PIPE_STORE_H_
#define CABLEWAY_CORE_LINUX_TCP_PIPE_STORE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/event/event_sink.h"
#include "core/linux/link/relay_store.h"
#include "core/linux/tcp/relay_memory.h"
#include "core/relay/relay_status.h"
#include "core/relay/slot_pool.h"
#include "core/settings/settings.h"

namespace cableway::host {

class PipeStore final : public RelayStore {
 public:
  // Creates the slots of all leases. ResourceExhausted: the kernel does not allow this process that number of pipes.
  static absl::StatusOr<std::unique_ptr<PipeStore>> create(const RelayMemory& memory);

  // Called once, with the pipe size in bytes, when the kernel gives this user smaller pipes than circuits should have.
  void on_small_pipe(std::function<void(int bytes)> report) { small_pipe_ = std::move(report); }
  // Callable from any thread. `circuits`: the number of open circuits, with slots of any kind.
  RelayMemoryStatus status(std::size_t circuits) const;

  SlotKind kind() const override { return SlotKind::kUnregistered; }
  absl::StatusOr<std::unique_ptr<Slot>> make_floor(const HostEnd& upstream, const HostEnd& downstream) override;
  SlotPool& pool() override { return pool_; }
  void add_status(RelayStatus& relay) const override { relay.memory = status(relay.circuits.size()); }
  LeaseShortage lease_shortage(const std::string& relay_memory) const override;

 private:
  PipeStore(const RelayMemory& memory, std::vector<std::unique_ptr<Slot>> leases)
      : memory_(memory), pool_(std::move(leases), kLeasesPerCircuit) {}

  const RelayMemory memory_;
  SlotPool pool_;
  std::function<void(int)> small_pipe_;
};

// A MakeRelayStore. Raises PIPES_SMALL.
absl::StatusOr<std::unique_ptr<RelayStore>> make_pipe_store(const Settings& settings, EventSink& events);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_PIPE_STORE_H_
