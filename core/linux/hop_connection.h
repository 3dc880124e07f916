// One end of a hop whose set-up is done: its connection, and, where it goes over RDMA, the queue pair beside it.
#ifndef CABLEWAY_CORE_LINUX_HOP_CONNECTION_H_
#define CABLEWAY_CORE_LINUX_HOP_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/hop_transport.h"
#include "core/linux/unique_fd.h"
#include "core/linux/verbs_device.h"
#include "core/linux/verbs_queue_pair.h"
#include "core/rdma_queue_pair.h"

namespace cableway::linux_ {

// This end's queue pair and what it belongs to.
struct RdmaHalf {
  std::shared_ptr<VerbsDevice> device;
  std::size_t device_number = 0;  // on this node (VerbsDevices)
  std::unique_ptr<VerbsQueuePair> queue_pair;
  RdmaEndpoint other;  // once the set-up is done
};

struct HopConnection {
  UniqueFd socket;
  std::unique_ptr<RdmaHalf> rdma;  // null: TCP
  std::string why_transport;       // HopTransport::reason
  std::uint32_t chunk_bytes = 0;   // the largest that the path takes from here on
};

inline HopTransport transport_of(const HopConnection& connection) {
  const RdmaHalf* const rdma = connection.rdma.get();
  return {rdma == nullptr ? "tcp" : "rdma " + rdma->device->name(), connection.why_transport};
}

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_HOP_CONNECTION_H_
