// Pipes for the chunks of circuits whose two hops go over TCP, spliced from one socket to the other.
#ifndef CABLEWAY_CORE_LINUX_TCP_PIPE_STORE_H_
#define CABLEWAY_CORE_LINUX_TCP_PIPE_STORE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/link/relay_store.h"
#include "core/linux/tcp/relay_memory.h"
#include "core/relay/relay_status.h"

namespace cableway::host {

class PipeStore final : public RelayStore {
 public:
  // Creates the slots of all leases. ResourceExhausted: the kernel does not allow this process so many pipes.
  static absl::StatusOr<std::unique_ptr<PipeStore>> create(const RelayMemory& memory);

  // Called once, with the pipe size in bytes, when the kernel gives this user smaller pipes than circuits should have.
  void on_small_pipe(std::function<void(int bytes)> report) { small_pipe_ = std::move(report); }
  const RelayMemory& memory() const { return memory_; }
  // Callable from any thread. `circuits`: the number of open circuits, with slots of any kind.
  RelayMemoryStatus status(std::size_t circuits) const;

  SlotKind kind() const override { return SlotKind::kPipe; }
  absl::StatusOr<std::unique_ptr<Slot>> make_floor(const HostEnd& upstream, const HostEnd& downstream) override;
  SlotPool& pool() override { return pool_; }

 private:
  PipeStore(const RelayMemory& memory, std::vector<std::unique_ptr<Slot>> leases)
      : memory_(memory), pool_(std::move(leases), kLeasesPerCircuit) {}

  const RelayMemory memory_;
  SlotPool pool_;
  std::function<void(int)> small_pipe_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_PIPE_STORE_H_
