// The sending end that NCCL holds: each isend is a message of a FlowSender.
#ifndef CABLEWAY_NCCL_ADAPTER_COMM_SEND_COMM_H_
#define CABLEWAY_NCCL_ADAPTER_COMM_SEND_COMM_H_

#include <optional>
#include <utility>

#include "core/flow/flow_sender.h"
#include "nccl_adapter/comm/flow_comm.h"

namespace cableway::nccl {

class SendComm final : public FlowComm {
 public:
  explicit SendComm(Origin origin) : FlowComm(std::move(origin), flow_, false), flow_(&FlowComm::now) {}

  // Null: 32 requests are in flight, retry.
  absl::StatusOr<Request*> send(const void* data, std::size_t bytes, MemoryRegion* region);

  // For the control thread: FlowSender's.
  std::optional<CircuitName> reserve();
  void release(const CircuitName& reserved);

 private:
  FlowSender flow_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_SEND_COMM_H_
