// The transports that hops of this host can go over, best first. A further one is a folder of its own and a line here.
#ifndef CABLEWAY_CORE_LINUX_HOP_TRANSPORT_TABLE_H_
#define CABLEWAY_CORE_LINUX_HOP_TRANSPORT_TABLE_H_

#include "core/circuit/transport_negotiator.h"
#include "core/linux/rdma/verbs_queue_pair.h"
#include "core/settings/settings.h"

namespace cableway::host {

// All ends that it chooses are HostEnds. `idle`: of who moves data over the hops.
TransportNegotiator host_transports(const Settings& settings, VerbsQueuePair::Idle idle);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_TRANSPORT_TABLE_H_
