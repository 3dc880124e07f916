#include "core/http/http_access.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "routing/text/absl_view.h"

namespace cableway {
namespace {

using Digest = std::array<unsigned char, crypto_hash_sha256_BYTES>;

Digest digest_of(std::string_view text) {
  Digest digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return digest;
}

// "localhost" of "localhost:7473"; brackets remain. The header is returned as it is if no port follows.
std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) return host;
  const std::string_view port = host.substr(colon + 1);
  const bool is_number = !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  return is_number ? host.substr(0, colon) : host;
}

}  // namespace

HttpAccess::HttpAccess(HttpAddress address, std::string token)
    : address_(std::move(address)), token_(std::move(token)) {}

bool HttpAccess::is_own_host(std::string_view host) const {
  if (!address_.is_loopback) return true;
  const std::string_view name = without_port(host);
  const bool in_brackets = name.size() > 2 && name.front() == '[' && name.back() == ']';
  if (in_brackets) {
    const std::string_view literal = name.substr(1, name.size() - 2);
    return literal == "::1" || literal == address_.address;
  }
  return name == "127.0.0.1" || name == address_.address ||
         absl::EqualsIgnoreCase(routing::absl_view(name), "localhost");
}

bool HttpAccess::is_permitted(std::string_view authorization) const {
  if (token_.empty()) return true;
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view scheme = authorization.substr(0, kScheme.size());
  if (!absl::EqualsIgnoreCase(routing::absl_view(scheme), routing::absl_view(kScheme))) return false;
  const Digest given = digest_of(authorization.substr(kScheme.size()));
  const Digest wanted = digest_of(token_);
  return sodium_memcmp(given.data(), wanted.data(), wanted.size()) == 0;
}

}  // namespace cableway
