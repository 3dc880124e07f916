// Names of hosts that go to ssh.
#ifndef CABLEWAY_ROUTING_TEXT_SSH_HOST_H_
#define CABLEWAY_ROUTING_TEXT_SSH_HOST_H_

#include <string_view>

namespace cableway::routing {

// Whether ssh takes the text as a host, and not as an option: "gpu1", "user@gpu1", "fe80::1%eth0". Letters, digits and
// ._-@:% only, at most 255; one user at most; neither the text nor the host after a user begins with a hyphen.
bool is_ssh_host(std::string_view text);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_SSH_HOST_H_
