// The transports that hops of this host can use, best first. To add one, add its folder and an entry in the table.
#ifndef CABLEWAY_CORE_LINUX_HOP_TRANSPORT_TABLE_H_
#define CABLEWAY_CORE_LINUX_HOP_TRANSPORT_TABLE_H_

#include "core/circuit/transport_negotiator.h"
#include "core/linux/link/idle.h"
#include "core/settings/settings.h"

namespace cableway::host {

// Every end that it chooses is a HostEnd. `idle` is how the thread that moves data over the hops behaves when idle.
TransportNegotiator host_transports(const Settings& settings, Idle idle);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_TRANSPORT_TABLE_H_
