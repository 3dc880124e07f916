#include "nccl_adapter/comm/recv_comm.h"

namespace cableway::nccl {

absl::StatusOr<Request*> RecvComm::receive(void* data, std::size_t bytes, MemoryRegion* region) {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return own_failure();
  if (absl::Status status = check_buffer(data, bytes, region); !status.ok()) return status;
  if (!flow_.can_post()) return nullptr;
  Request* request = take(messages_, flow_.next(), region);
  if (request == nullptr) return nullptr;
  const auto posted = flow_.post(FlowLanding(static_cast<std::byte*>(data), bytes, remote_keys(region)));
  note_ended();
  if (!posted.ok()) return fail(posted.status());
  return request;
}

bool RecvComm::may_join(const CircuitName& circuit) {
  const std::lock_guard lock(mutex_);
  return flow_.may_join(circuit);
}

absl::StatusOr<Request*> RecvComm::flush(const void* data, MemoryRegion* region) {
  const std::lock_guard lock(mutex_);
  // Checked first: once the comm is closed its regions are gone.
  if (absl::Status status = memory_.can_flush(); !status.ok()) return named(status);
  if (region == nullptr || !region->is_gpus) return nullptr;
  if (absl::Status status = check_buffer(data, 1, region); !status.ok()) return status;
  Request* const request = take(flushes_, memory_.next_flush(), region);
  // A null request would mean that the data is flushed, so this cannot ask NCCL to retry.
  if (request == nullptr) return named(absl::ResourceExhaustedError("more than 32 flushes at once"));
  const absl::StatusOr<std::uint64_t> flush = memory_.flush(*region, data);
  if (flush.ok()) return request;
  release(*request);
  return named(flush.status());
}

}  // namespace cableway::nccl
