#include "core/http/http_access.h"

#include <sodium.h>

#include <array>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "routing/text/absl_view.h"
#include "routing/text/host_port.h"

namespace cableway {
namespace {

using Digest = std::array<unsigned char, crypto_hash_sha256_BYTES>;

Digest digest_of(std::string_view text) {
  Digest digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return digest;
}

}  // namespace

HttpAccess::HttpAccess(HttpAddress address, std::string token)
    : address_(std::move(address)), token_(std::move(token)) {}

bool HttpAccess::is_own_host(std::string_view host) const {
  if (!address_.is_loopback) return true;
  const std::optional<routing::HostPort> given = routing::parse_host_port(host);
  if (!given) return false;
  return given->host == "127.0.0.1" || given->host == "::1" || given->host == address_.address ||
         absl::EqualsIgnoreCase(routing::absl_view(given->host), "localhost");
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
