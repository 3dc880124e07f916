// Who may read a node's page and metrics. On the loopback every local process may, unless there is a token, and the
// Host header must name this host: a web page elsewhere whose name resolves to the loopback (DNS rebinding) gets
// nothing. On other addresses every reader needs the token.
#ifndef CABLEWAY_CORE_HTTP_HTTP_ACCESS_H_
#define CABLEWAY_CORE_HTTP_HTTP_ACCESS_H_

#include <string>
#include <string_view>

#include "core/settings/http_address.h"

namespace cableway {

// Immutable: any thread.
class HttpAccess {
 public:
  // `token`: empty: none is needed. Precondition: on an address that is not the loopback's there is one.
  HttpAccess(HttpAddress address, std::string token);

  // Whether a Host header such as "localhost:7473" may be answered.
  bool is_own_host(std::string_view host) const;
  // Whether an Authorization header, "Bearer TOKEN", has the token. Takes the same time for every header of a length.
  bool is_permitted(std::string_view authorization) const;
  bool needs_token() const { return !token_.empty(); }

 private:
  const HttpAddress address_;
  const std::string token_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_HTTP_HTTP_ACCESS_H_
