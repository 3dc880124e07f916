#include "core/crypto/key_ring.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cableway {
namespace {

absl::Status bad_file(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(what, kExpectedKey, ", in one line or two"));
}

}  // namespace

absl::StatusOr<KeyRing> KeyRing::parse(std::string_view text) {
  if (text.size() > kMaxKeyFileBytes)
    return bad_file(absl::StrCat("the key file has more than ", kMaxKeyFileBytes, " bytes"));
  KeyRing ring;
  std::size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StatusOr<ControlKey> key = ControlKey::parse({line.data(), line.size()});
    if (!key.ok())
      return absl::Status(key.status().code(), absl::StrCat("line ", number, ": ", key.status().message()));
    if (ring.keys_.size() == SetupKeys::kMost) return bad_file(absl::StrCat("line ", number, " has a third key"));
    ring.keys_.push_back(*std::move(key));
  }
  if (ring.keys_.empty()) return bad_file("the key file has no key");
  if (ring.keys_.front() == ring.keys_.back() && ring.keys_.size() > 1)
    return bad_file("the key file has the same key twice");
  return ring;
}

bool KeyRing::verify(KeyUse use, std::span<const std::byte> message, const Mac& mac) const {
  return std::any_of(keys_.begin(), keys_.end(), [&](const ControlKey& key) { return key.verify(use, message, mac); });
}

SetupKeys KeyRing::setup_keys() const {
  const SubKey& first = keys_.front().subkey(KeyUse::kCircuitSetup);
  return keys_.size() == 1 ? SetupKeys(first) : SetupKeys(first, keys_.back().subkey(KeyUse::kCircuitSetup));
}

std::vector<std::string> KeyRing::fingerprints() const {
  std::vector<std::string> all;
  for (const ControlKey& key : keys_) all.push_back(key.fingerprint());
  return all;
}

}  // namespace cableway
