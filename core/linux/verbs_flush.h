// Makes sure that what an RDMA device has written into a GPU's memory is there for the GPU to see. The writes that a
// completion tells of may still be on their way over the bus; a read by the same device comes behind them, so when it
// is back they have arrived. The device reads over a queue pair that is connected with itself.
#ifndef CABLEWAY_CORE_LINUX_VERBS_FLUSH_H_
#define CABLEWAY_CORE_LINUX_VERBS_FLUSH_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/linux/mapped_pages.h"
#include "core/linux/verbs_connection.h"
#include "core/linux/verbs_device.h"
#include "core/linux/verbs_memory.h"

namespace cableway::linux_ {

// One thread at a time. Once made, nothing waits and nothing is allocated.
class VerbsFlush {
 public:
  // That may be under way at once.
  static constexpr std::uint32_t kMostReads = 32;

  // On `device`'s port with address `gid`. `packet_sequence`: 24 bits, random. ResourceExhausted says what to raise.
  static absl::StatusOr<std::unique_ptr<VerbsFlush>> create(std::shared_ptr<const VerbsDevice> device,
                                                            const VerbsGid& gid, std::uint32_t packet_sequence,
                                                            const VerbsOptions& options);

  ~VerbsFlush();

  // Reads the byte at `address`, of memory that is registered with remote_read on this device and has `remote_key`. The
  // read's number: they count from 0. At most kMostReads may be under way. A status other than OK is final.
  absl::StatusOr<std::uint64_t> read(std::uint64_t address, std::uint32_t remote_key);
  // The number of the next read.
  std::uint64_t next() const { return posted_; }
  // Whether a read is back. Why none comes back any more is said of those only that are not.
  absl::StatusOr<bool> done(std::uint64_t read);

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
  // What comes later here uses what comes earlier, and goes first.
  MappedPages landing_;
  std::unique_ptr<VerbsMemory> landing_memory_;
  VerbsOwned<ibv_cq> completions_;
  VerbsOwned<ibv_qp> pair_;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_VERBS_FLUSH_H_
