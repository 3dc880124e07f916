#include "nccl_adapter/recv_comm.h"

namespace cableway::nccl {

absl::StatusOr<Request*> RecvComm::receive(void* data, std::size_t bytes, MemoryRegion* region) {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return failure_;
  if (absl::Status status = check_buffer(data, bytes, region); !status.ok()) return status;
  if (!flow_.can_post()) return nullptr;
  Request* request = take_request(flow_.next(), region);
  if (request == nullptr) return nullptr;
  const auto posted = flow_.post(Landing{static_cast<std::byte*>(data), bytes, remote_key(region)});
  if (!posted.ok()) return fail(posted.status());
  return request;
}

}  // namespace cableway::nccl
