// Ensures that data that an RDMA device has written to GPU memory is visible to the GPU. Writes whose completion was
// reported may still be in flight on the bus. A read by the same device is ordered behind them, so they have arrived
// when it completes. The device reads over a queue pair that is connected with itself.
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_FLUSH_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_FLUSH_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/linux/link/memory_flush.h"
#include "core/linux/os/mapped_pages.h"
#include "core/linux/rdma/verbs_connection.h"
#include "core/linux/rdma/verbs_device.h"
#include "core/linux/rdma/verbs_memory.h"

namespace cableway::host {

class VerbsFlush final : public MemoryFlush {
 public:
  // On `device`'s port with address `gid`. `packet_sequence`: 24 bits, random. ResourceExhausted names the limit to
  // raise.
  static absl::StatusOr<std::unique_ptr<VerbsFlush>> create(std::shared_ptr<const VerbsDevice> device,
                                                            const VerbsGid& gid, std::uint32_t packet_sequence,
                                                            const VerbsOptions& options);

  ~VerbsFlush() override;

  absl::StatusOr<std::uint64_t> read(std::uint64_t address, std::uint32_t remote_key) override;
  std::uint64_t next() const override { return posted_; }
  absl::StatusOr<bool> done(std::uint64_t read) override;

 private:
  explicit VerbsFlush(std::shared_ptr<const VerbsDevice> device) : device_(std::move(device)) {}
  absl::Status prepare(const VerbsGid& gid, std::uint32_t packet_sequence, const VerbsOptions& options);
  absl::Status make_landing();
  absl::Status make_queues();
  void poll();

  const std::shared_ptr<const VerbsDevice> device_;
  absl::Status broken_;  // final
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
  // Destroyed in reverse order: later members use earlier ones.
  MappedPages landing_;
  std::unique_ptr<VerbsMemory> landing_memory_;
  VerbsOwned<ibv_cq> completions_;
  VerbsOwned<ibv_qp> pair_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_FLUSH_H_
