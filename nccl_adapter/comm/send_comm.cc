#include "nccl_adapter/comm/send_comm.h"

namespace cableway::nccl {

absl::StatusOr<Request*> SendComm::send(const void* data, std::size_t bytes, MemoryRegion* region) {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return own_failure();
  if (absl::Status status = check_buffer(data, bytes, region); !status.ok()) return status;
  if (!flow_.can_post()) {
    if (absl::Status status = progress_in_loop(); !status.ok()) return status;
  }
  if (!flow_.can_post()) return nullptr;
  Request* request = take(messages_, flow_.next(), region);
  if (request == nullptr) return nullptr;
  const auto posted = flow_.post(FlowBuffer(static_cast<const std::byte*>(data), local_keys(region)), bytes);
  note_ended();
  note_moved();
  note_posted();
  if (!posted.ok()) return fail(posted.status());
  return request;
}

std::optional<CircuitName> SendComm::reserve() {
  const std::lock_guard lock(mutex_);
  return failure_.ok() ? flow_.reserve() : std::nullopt;
}

void SendComm::release(const CircuitName& reserved) {
  const std::lock_guard lock(mutex_);
  flow_.release(reserved);
  note_ended();
}

}  // namespace cableway::nccl
