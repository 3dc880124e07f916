#include "core/crypto/control_key.h"

#include <sodium.h>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

constexpr char kContext[] = "cableway";
static_assert(sizeof kContext == crypto_kdf_CONTEXTBYTES + 1);

constexpr std::size_t kFingerprintBytes = 4;

absl::Status bad_key(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(what, kExpectedKey));
}

}  // namespace

absl::StatusOr<ControlKey> ControlKey::parse(std::string_view text) {
  static_assert(SubKey::kBytes == crypto_kdf_KEYBYTES);
  static_assert(SubKey::kBytes == crypto_generichash_KEYBYTES);
  if (::sodium_init() < 0) return absl::InternalError("libsodium cannot be used: the kernel gives it no random bytes");
  const absl::string_view digits = absl::StripAsciiWhitespace({text.data(), text.size()});
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (absl::ascii_isxdigit(static_cast<unsigned char>(digits[i]))) continue;
    return bad_key(absl::StrCat("the key's character ", i + 1, " is no hex digit"));
  }
  if (digits.size() != 2 * SubKey::kBytes) return bad_key(absl::StrCat("the key has ", digits.size(), " hex digits"));

  SubKey secret;
  const auto start_of = [](SubKey& key) { return reinterpret_cast<unsigned char*>(key.bytes().data()); };
  ::sodium_hex2bin(start_of(secret), SubKey::kBytes, digits.data(), digits.size(), nullptr, nullptr, nullptr);
  ControlKey key;
  for (std::size_t use = 0; use < kUses; ++use) {
    ::crypto_kdf_derive_from_key(start_of(key.subkeys_[use]), SubKey::kBytes, use + 1, kContext, start_of(secret));
  }
  return key;
}

Mac ControlKey::mac(KeyUse use, std::span<const std::byte> message) const {
  return subkey(use).mac(message);
}

bool ControlKey::verify(KeyUse use, std::span<const std::byte> message, const Mac& mac) const {
  return same_mac(this->mac(use, message), mac);
}

std::string ControlKey::fingerprint() const {
  const auto start = subkey(KeyUse::kFingerprint).bytes().first<kFingerprintBytes>();
  return absl::BytesToHexString({reinterpret_cast<const char*>(start.data()), start.size()});
}

}  // namespace cableway
