// The status of a failed call on a connection: Unavailable, whatever the errno. The code must not depend on how the
// connection ended: absl maps EPIPE to a failed precondition and ECONNRESET to a retryable error.
#ifndef CABLEWAY_CORE_LINUX_TCP_CONNECTION_ERROR_H_
#define CABLEWAY_CORE_LINUX_TCP_CONNECTION_ERROR_H_

#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cableway::host {

inline absl::Status connection_error(int error, absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::generic_category().message(error)));
}

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_CONNECTION_ERROR_H_
