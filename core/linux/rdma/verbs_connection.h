// Connects a queue pair: the states that it passes through, each with the attributes that the device needs for it
// (ibv_modify_qp(3)).
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_CONNECTION_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_CONNECTION_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "core/linux/rdma/verbs_device.h"
#include "core/rdma/rdma_queue_pair.h"
#include "core/settings/settings.h"

namespace cableway::host {

// How a device sends. The two ends of a hop may differ in all of it.
struct VerbsOptions {
  std::uint8_t service_level = 0;  // 0 to 7: mapped to the Ethernet priority
  std::uint8_t traffic_class = 0;  // of the packets' IP header: DSCP in the upper six bits, ECN in the lower two
  // Acknowledgement timeout: 4.096 us * 2^timeout; 18 is 1.07 s. 1 to 31; devices may round up, and may wait up to four
  // times as long. 0 means no timeout, and is rejected.
  std::uint8_t timeout = 18;
  // How often unacknowledged packets are retransmitted before the connection fails: 0 to 7. The kernel's soft-RoCE
  // treats 7 as unlimited.
  std::uint8_t retry_count = 6;
};

VerbsOptions verbs_options(const Settings& settings);
// InvalidArgument names what is out of range.
absl::Status check_options(const VerbsGid& gid, const VerbsOptions& options);

// How a queue pair is connected.
struct VerbsJoin {
  // The endpoints that the two ends exchanged.
  RdmaEndpoint own;
  RdmaEndpoint other;
  unsigned access = 0;  // the other end's permissions, from IBV_ACCESS_REMOTE_*
  // Posts the receives; called once the queue pair accepts them.
  std::function<absl::Status()> receive = {};
};

// Connects a new queue pair, which receives and sends afterwards. `gid` belongs to this end's port; its index is
// looked up as late as possible, and again if it has changed meanwhile. Errors of the device are reported as in
// VerbsDevice::refused(). FailedPrecondition: the port's address is gone.
absl::Status join_queue_pair(const VerbsDevice& device, ibv_qp& pair, const VerbsJoin& join, VerbsGid& gid,
                             const VerbsOptions& options);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_CONNECTION_H_
