// The sending end that NCCL holds: each isend is a message of a FlowSender.
#ifndef CABLEWAY_NCCL_ADAPTER_COMM_SEND_COMM_H_
#define CABLEWAY_NCCL_ADAPTER_COMM_SEND_COMM_H_

#include "core/flow/flow_sender.h"
#include "nccl_adapter/comm/flow_comm.h"

namespace cableway::nccl {

class SendComm final : public FlowComm {
 public:
  SendComm(Context& context, std::unique_ptr<host::HopLink> hop, Names names, Log log, std::uint32_t chunk_bytes)
      : FlowComm(context, std::move(hop), std::move(names), log), flow_(first_link(), chunk_bytes) {}

  // Null: 32 requests are in flight, retry.
  absl::StatusOr<Request*> send(const void* data, std::size_t bytes, MemoryRegion* region);

 private:
  absl::Status progress() override { return flow_.progress(); }
  bool done(std::uint64_t message) const override { return flow_.done(message); }
  std::uint64_t size(std::uint64_t message) const override { return flow_.size(message); }
  bool idle() const override { return flow_.idle(); }
  bool receives() const override { return false; }

  FlowSender flow_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_SEND_COMM_H_
