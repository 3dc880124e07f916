// Feeds bytes to the decoder of listen handles, which may come from a rank with another plugin.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/circuit/circuit_setup.h"
#include "routing/text/node_name.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  std::array<std::byte, kListenHandleBytes> bytes{};
  std::copy_n(reinterpret_cast<const std::byte*>(data), std::min(size, bytes.size()), bytes.begin());
  const absl::StatusOr<ListenHandle> handle = decode_listen_handle(bytes);
  if (!handle.ok()) {
    require(!handle.status().message().empty(), "an error without a reason");
    return 0;
  }
  require(handle->port != 0 && !handle->node.empty() && handle->node.size() <= routing::kMaxNodeNameBytes,
          "a handle without a node or a port");
  const absl::StatusOr<ListenHandle> again = decode_listen_handle(encode_listen_handle(*handle));
  require(again.ok() && *again == *handle, "a handle does not survive a round trip");
  return 0;
}
