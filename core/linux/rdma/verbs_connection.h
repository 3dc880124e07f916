// How a queue pair becomes one end of a reliable connection: the states it passes through, each with what the device
// has to know by then (ibv_modify_qp(3)).
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_CONNECTION_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_CONNECTION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/linux/rdma/verbs_device.h"
#include "core/rdma/rdma_queue_pair.h"
#include "core/settings/settings.h"

namespace cableway::host {

// How a device sends. Both ends of a hop may differ in all of it.
struct VerbsOptions {
  std::uint8_t service_level = 0;  // 0 to 7: the priority that goes with it over Ethernet
  std::uint8_t traffic_class = 0;  // of the packets' IP header: DSCP in the upper six bits, ECN in the lower two
  // An acknowledgement is waited for 4.096 us * 2^timeout: 18 is 1.07 s. 1 to 31; devices may round up, and take up to
  // four times as long. 0, which is for ever, is refused.
  std::uint8_t timeout = 18;
  // 0 to 7 times what was not acknowledged is sent again before the connection counts as dead. The kernel's soft-RoCE
  // takes 7 for ever.
  std::uint8_t retry_count = 6;
};

VerbsOptions verbs_options(const Settings& settings);
// InvalidArgument names what is out of range.
absl::Status check_options(const VerbsGid& gid, const VerbsOptions& options);

// What a device refuses is said as VerbsDevice::refused() does. `access`: what the other end may do, of
// IBV_ACCESS_REMOTE_*.
absl::Status initialise_queue_pair(const VerbsDevice& device, ibv_qp& pair, const VerbsGid& gid, unsigned access);
// From then on it receives and sends. `own` and `other` are what the two ends told each other; `gid` is the own port's.
absl::Status join_queue_pair(const VerbsDevice& device, ibv_qp& pair, const RdmaEndpoint& own,
                             const RdmaEndpoint& other, const VerbsGid& gid, const VerbsOptions& options);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_CONNECTION_H_
