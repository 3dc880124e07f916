// Feeds bytes to the decoder of hellos, which any untrusted peer on a cable can send.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/discovery/port_hello.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const absl::StatusOr<PortHello> decoded = decode_port_hello(bytes);
  if (!decoded.ok()) {
    require(!decoded.status().message().empty(), "an error without a reason");
    return 0;
  }
  require(decoded->addresses.size() <= kMaxHelloAddresses && decoded->heard.size() <= kMaxHeard,
          "a hello without a bound");
  const absl::StatusOr<PortHello> again = decode_port_hello(encode_port_hello(*decoded));
  require(again.ok() && *again == *decoded, "a hello does not survive a round trip");
  const absl::StatusOr<PortHello> padded = decode_port_hello(encode_port_hello(*decoded, size + 100));
  require(padded.ok() && *padded == *decoded, "padding changes a hello");
  return 0;
}
