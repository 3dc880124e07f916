// Feeds bytes to the key file parser. An accepted key must verify its own codes; an error must name what was expected
// and must not reveal the file's contents.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/crypto/control_key.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<ControlKey> key = ControlKey::parse(text);
  if (!key.ok()) {
    const std::string message(key.status().message());
    require(message.find("; expected 64 hex digits") != std::string::npos, "an error does not say what was expected");
    require(message.size() < 200, "an error is too long");
    return 0;
  }
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  Mac mac = key->mac(KeyUse::kControlDatagram, bytes);
  require(key->verify(KeyUse::kControlDatagram, bytes, mac), "does not verify its own code");
  require(!key->verify(KeyUse::kCircuitSetup, bytes, mac), "a code of one use is valid for another");
  mac[0] ^= std::byte{1};
  require(!key->verify(KeyUse::kControlDatagram, bytes, mac), "verifies a damaged code");
  return 0;
}
