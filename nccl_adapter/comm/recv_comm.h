// The receiving end that NCCL holds: each irecv is a landing of a FlowReceiver.
#ifndef CABLEWAY_NCCL_ADAPTER_COMM_RECV_COMM_H_
#define CABLEWAY_NCCL_ADAPTER_COMM_RECV_COMM_H_

#include <utility>

#include "core/flow/flow_receiver.h"
#include "nccl_adapter/comm/flow_comm.h"

namespace cableway::nccl {

class RecvComm final : public FlowComm {
 public:
  explicit RecvComm(Origin origin) : FlowComm(std::move(origin), flow_, true) {}

  // Null: 32 requests are in flight, retry.
  absl::StatusOr<Request*> receive(void* data, std::size_t bytes, MemoryRegion* region);
  // Starts a flush of what was received at `data` to a GPU's memory; test() reports its completion. Null: already
  // flushed, or host memory, where completed data is visible. The flow may have ended in the meantime.
  absl::StatusOr<Request*> flush(const void* data, MemoryRegion* region);

  // For the control thread: FlowReceiver's.
  bool may_join(const CircuitName& circuit);

 private:
  void prefer(const CircuitName& circuit) override { flow_.prefer(circuit); }

  FlowReceiver flow_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_RECV_COMM_H_
