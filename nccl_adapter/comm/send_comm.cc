#include "nccl_adapter/comm/send_comm.h"

namespace cableway::nccl {

absl::StatusOr<Request*> SendComm::send(const void* data, std::size_t bytes, MemoryRegion* region) {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return failure_;
  if (absl::Status status = check_buffer(data, bytes, region); !status.ok()) return status;
  if (!flow_.can_post()) {
    if (absl::Status status = flow_.progress(); !status.ok()) return fail(status);
  }
  if (!flow_.can_post()) return nullptr;
  Request* request = take(messages_, flow_.next(), region);
  if (request == nullptr) return nullptr;
  const auto posted = flow_.post(FlowBuffer(static_cast<const std::byte*>(data), local_keys(region)), bytes);
  if (!posted.ok()) return fail(posted.status());
  return request;
}

}  // namespace cableway::nccl
