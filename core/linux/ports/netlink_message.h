// Reads what rtnetlink sends: one message, one fact.
#ifndef CABLEWAY_CORE_LINUX_PORTS_NETLINK_MESSAGE_H_
#define CABLEWAY_CORE_LINUX_PORTS_NETLINK_MESSAGE_H_

#include <linux/netlink.h>

#include <optional>
#include <string>
#include <utility>

#include "core/linux/ports/kernel_network.h"

namespace cableway::host {

// RTM_NEWLINK and RTM_DELLINK. Nothing for one that is malformed, or not about the interface itself: a bridge sends its
// members' state under the same type. The link's revision is 0.
std::optional<std::pair<PortId, KernelLink>> parse_link(nlmsghdr* message);

// RTM_NEWADDR. Nothing for one that is malformed or of another family. Its address has no scope: names are the links'.
std::optional<KernelAddress> parse_kernel_address(nlmsghdr* message);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_NETLINK_MESSAGE_H_
