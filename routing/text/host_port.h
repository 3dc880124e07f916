// HOST:PORT, as in settings, options and HTTP's Host.
#ifndef CABLEWAY_ROUTING_TEXT_HOST_PORT_H_
#define CABLEWAY_ROUTING_TEXT_HOST_PORT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace cableway::routing {

struct HostPort {
  std::string_view host;  // part of the text, without brackets; not empty, else unchecked
  std::optional<std::uint16_t> port;
};

// "h0", "h0:7473", "[::1]", "[::1]:7473". A host with colons is in brackets, any other is not; a port is in digits, 1
// to 65535. nullopt: the text is not of this form.
std::optional<HostPort> parse_host_port(std::string_view text);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_HOST_PORT_H_
