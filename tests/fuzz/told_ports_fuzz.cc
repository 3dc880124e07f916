// Feeds bytes to the decoder of the TCP ports that a neighbour announces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/flooding/told_ports.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const absl::StatusOr<AnnouncedPorts> decoded = decode_told_ports(bytes);
  if (!decoded.ok()) {
    require(!decoded.status().message().empty(), "an error without a reason");
    return 0;
  }
  const TcpPorts& processes = decoded->processes;
  require(processes.size() <= kMaxToldPorts, "a list without a bound");
  require(std::adjacent_find(processes.begin(), processes.end(), std::greater_equal<>()) == processes.end(),
          "ports that do not ascend");
  require(processes.empty() || processes.front() != 0, "port 0");
  const absl::StatusOr<AnnouncedPorts> again = decode_told_ports(encode_told_ports(*decoded));
  require(again.ok() && *again == *decoded, "a list does not survive a round trip");
  return 0;
}
