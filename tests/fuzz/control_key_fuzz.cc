// Feeds bytes to the key file parser. Accepted keys must verify their own codes; an error must name what was expected
// and must not reveal the file's contents.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/crypto/key_ring.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<KeyRing> keys = KeyRing::parse(text);
  if (!keys.ok()) {
    const std::string message(keys.status().message());
    require(message.find("; expected 64 hex digits") != std::string::npos, "an error does not say what was expected");
    require(message.size() < 200, "an error is too long");
    return 0;
  }
  const std::vector<std::string> fingerprints = keys->fingerprints();
  const SetupKeys for_setups = keys->setup_keys();
  const std::span<const SubKey> setup_keys = for_setups.accepted();
  require(fingerprints.size() == setup_keys.size() && setup_keys.size() <= SetupKeys::kMost, "keys without a bound");
  require(!setup_keys.empty(), "a key file without a key");
  require(setup_keys.size() == 1 || setup_keys[0] != setup_keys[1], "one key counts as two");
  for (const std::string& each : fingerprints) require(each.size() == 8, "a fingerprint of another size");
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  Mac mac = keys->mac(KeyUse::kControlDatagram, bytes);
  require(keys->verify(KeyUse::kControlDatagram, bytes, mac), "does not verify its own code");
  require(!keys->verify(KeyUse::kCircuitSetup, bytes, mac), "a code of one use is valid for another");
  mac[0] ^= std::byte{1};
  require(!keys->verify(KeyUse::kControlDatagram, bytes, mac), "verifies a damaged code");
  return 0;
}
