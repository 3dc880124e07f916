#include "core/control_key.h"

#include <sodium.h>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

constexpr char kContext[] = "cableway";
static_assert(sizeof kContext == crypto_kdf_CONTEXTBYTES + 1);

constexpr char kExpected[] = "; expected 64 hex digits, as `openssl rand -hex 32` writes them";

absl::Status bad_key(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(what), kExpected));
}

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kUses = 2;
using Bytes = std::array<unsigned char, kKeyBytes>;

const unsigned char* bytes_of(std::span<const std::byte> message) {
  return reinterpret_cast<const unsigned char*>(message.data());
}

}  // namespace

struct ControlKey::Subkeys {
  std::array<Bytes, kUses> of_use;
};

void ControlKey::Wipe::operator()(Subkeys* subkeys) const {
  ::sodium_memzero(subkeys, sizeof *subkeys);
  delete subkeys;
}

absl::StatusOr<ControlKey> ControlKey::parse(std::string_view text) {
  static_assert(kKeyBytes == crypto_kdf_KEYBYTES);
  static_assert(kKeyBytes == crypto_generichash_KEYBYTES);
  static_assert(kMacBytes >= crypto_generichash_BYTES_MIN);
  if (::sodium_init() < 0) return absl::InternalError("libsodium cannot be used: the kernel gives it no random bytes");
  if (text.size() > kMaxKeyFileBytes)
    return bad_key(absl::StrCat("the key file has more than ", kMaxKeyFileBytes, " bytes"));
  const absl::string_view digits = absl::StripAsciiWhitespace({text.data(), text.size()});
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (absl::ascii_isxdigit(static_cast<unsigned char>(digits[i]))) continue;
    return bad_key(absl::StrCat("the key's character ", i + 1, " is no hex digit"));
  }
  if (digits.size() != 2 * kKeyBytes) return bad_key(absl::StrCat("the key has ", digits.size(), " hex digits"));

  Bytes secret{};
  ::sodium_hex2bin(secret.data(), secret.size(), digits.data(), digits.size(), nullptr, nullptr, nullptr);
  std::unique_ptr<Subkeys, Wipe> subkeys(new Subkeys);
  for (std::size_t use = 0; use < kUses; ++use) {
    ::crypto_kdf_derive_from_key(subkeys->of_use[use].data(), kKeyBytes, use + 1, kContext, secret.data());
  }
  ::sodium_memzero(secret.data(), secret.size());
  return ControlKey(std::move(subkeys));
}

Mac ControlKey::mac(KeyUse use, std::span<const std::byte> message) const {
  const Bytes& subkey = subkeys_->of_use[static_cast<std::size_t>(use)];
  Mac mac;
  // It fails for sizes out of range alone, and these are constants.
  static_cast<void>(::crypto_generichash(reinterpret_cast<unsigned char*>(mac.data()), mac.size(), bytes_of(message),
                                         message.size(), subkey.data(), subkey.size()));
  return mac;
}

bool ControlKey::verify(KeyUse use, std::span<const std::byte> message, const Mac& mac) const {
  const Mac right = this->mac(use, message);
  return ::sodium_memcmp(right.data(), mac.data(), mac.size()) == 0;
}

}  // namespace cableway
