// Where a node serves its page and metrics.
#ifndef CABLEWAY_CORE_SETTINGS_HTTP_ADDRESS_H_
#define CABLEWAY_CORE_SETTINGS_HTTP_ADDRESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cableway {

struct HttpAddress {
  std::string address;     // an IP literal in its canonical spelling; "0.0.0.0" or "::": every address of the host
  std::uint16_t port = 0;  // TCP
  bool is_loopback = false;

  friend bool operator==(const HttpAddress&, const HttpAddress&) = default;
};

// "127.0.0.1:7473", "[::1]:7473". nullopt: it is not of this form.
std::optional<HttpAddress> parse_http_address(std::string_view text);

// As parse_http_address() accepts it.
std::string to_text(const HttpAddress& address);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_HTTP_ADDRESS_H_
