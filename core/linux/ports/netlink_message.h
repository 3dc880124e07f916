// Parsers for rtnetlink messages.
#ifndef CABLEWAY_CORE_LINUX_PORTS_NETLINK_MESSAGE_H_
#define CABLEWAY_CORE_LINUX_PORTS_NETLINK_MESSAGE_H_

#include <linux/netlink.h>

#include <optional>
#include <string>
#include <utility>

#include "core/linux/ports/kernel_network.h"

namespace cableway::host {

// RTM_NEWLINK and RTM_DELLINK. nullopt for a malformed message, or one that is not about the interface itself: a bridge
// sends its members' state under the same type. The link's revision is 0.
std::optional<std::pair<PortId, KernelLink>> parse_link(nlmsghdr* message);

// RTM_NEWADDR. nullopt for a malformed message or another family. The address has no scope, because only links have
// names.
std::optional<KernelAddress> parse_kernel_address(nlmsghdr* message);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_NETLINK_MESSAGE_H_
