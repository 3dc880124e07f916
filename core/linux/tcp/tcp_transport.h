// A hop's data over the connection that it was set up on: the transport that every hop supports.
#ifndef CABLEWAY_CORE_LINUX_TCP_TCP_TRANSPORT_H_
#define CABLEWAY_CORE_LINUX_TCP_TCP_TRANSPORT_H_

#include <memory>

#include "core/linux/link/host_end.h"

namespace cableway::host {

std::unique_ptr<HostEnd> make_tcp_end();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_TCP_TRANSPORT_H_
