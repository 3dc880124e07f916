// One end of a hop whose data goes over RDMA: the queue pair that moves it (core/rdma/rdma_chunk_link.h), and the
// connection that the hop was set up on.
#ifndef CABLEWAY_CORE_LINUX_RDMA_RDMA_HOP_H_
#define CABLEWAY_CORE_LINUX_RDMA_RDMA_HOP_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/linux/link/hop_link.h"
#include "core/linux/link/memory_registrar.h"
#include "core/linux/rdma/tcp_lifeline.h"
#include "core/linux/rdma/verbs_device.h"
#include "core/linux/rdma/verbs_ports.h"
#include "core/linux/rdma/verbs_queue_pair.h"
#include "core/rdma/rdma_chunk_link.h"

namespace cableway::host {

// This end's queue pair, connected to the other end's, and its device.
struct RdmaHalf {
  std::shared_ptr<VerbsDevice> device;
  std::size_t device_number = 0;  // on this node (VerbsDevices)
  std::unique_ptr<VerbsQueuePair> queue_pair;
  RdmaEndpoint other;
  PortInterface interface = {};  // the interface with the port's address; needed only to join two ends

  // The endpoint to send to the other end.
  RdmaEndpoint endpoint() const {
    RdmaEndpoint endpoint = queue_pair->endpoint();
    endpoint.ethernet = interface.ethernet;
    return endpoint;
  }
};

class RdmaHop final : public HopLink, private MemoryRegistrar {
 public:
  RdmaHop(UniqueFd socket, RdmaHalf half, const HopLinkOptions& options);

  ChunkLink& link() override { return link_; }
  int socket() const override { return lifeline_.socket(); }
  int completions() const override { return queue_pair_.fd(); }
  void on_readable(bool /*ended*/) override { link_.on_lifeline(); }
  void take_completions() override { queue_pair_.take_events(); }
  absl::Status arm_completions() override { return queue_pair_.arm(); }
  bool needs_idle_polls() const override { return true; }
  absl::Status check() override;
  const MemoryRegistrar* registrar() const override { return this; }
  UniqueFd take_socket() override;

 private:
  RdmaHop(std::unique_ptr<TcpLifeline> lifeline, RdmaHalf half, const HopLinkOptions& options);

  absl::Status check_address();
  const void* device() const override { return device_.get(); }
  absl::StatusOr<std::unique_ptr<RegisteredMemory>> add(void* data, std::size_t bytes,
                                                        MemoryAccess access) const override;
  absl::StatusOr<std::unique_ptr<RegisteredMemory>> add_dmabuf(int fd, std::uint64_t offset, std::size_t bytes,
                                                               std::uint64_t address,
                                                               MemoryAccess access) const override;
  absl::StatusOr<std::unique_ptr<MemoryFlush>> make_flush() const override;

  const std::shared_ptr<VerbsDevice> device_;
  std::uint64_t gid_changes_ = 0;  // as of the last check
  bool address_missing_ = false;   // as of the last check
  // Owned by the link.
  VerbsQueuePair& queue_pair_;
  TcpLifeline& lifeline_;
  RdmaChunkLink link_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_RDMA_HOP_H_
