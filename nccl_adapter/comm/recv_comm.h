// The receiving end that NCCL holds: each irecv is a landing of a FlowReceiver.
#ifndef CABLEWAY_NCCL_ADAPTER_COMM_RECV_COMM_H_
#define CABLEWAY_NCCL_ADAPTER_COMM_RECV_COMM_H_

#include "core/flow/flow_receiver.h"
#include "nccl_adapter/comm/flow_comm.h"

namespace cableway::nccl {

class RecvComm final : public FlowComm {
 public:
  RecvComm(Context& context, std::unique_ptr<host::HopLink> hop, Names names, Log log)
      : FlowComm(context, std::move(hop), std::move(names), log), flow_(first_link()) {}

  // Null: 32 requests are in flight, retry.
  absl::StatusOr<Request*> receive(void* data, std::size_t bytes, MemoryRegion* region);
  // Starts a flush of what was received at `data` to a GPU's memory; test() reports its completion. Null: already
  // flushed, or host memory, where completed data is visible. The flow may have ended in the meantime.
  absl::StatusOr<Request*> flush(const void* data, MemoryRegion* region);

 private:
  absl::Status progress() override { return flow_.progress(); }
  bool done(std::uint64_t message) const override { return flow_.done(message); }
  std::uint64_t size(std::uint64_t message) const override { return flow_.size(message); }
  bool idle() const override { return flow_.idle(); }
  bool receives() const override { return true; }

  FlowReceiver flow_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_RECV_COMM_H_
