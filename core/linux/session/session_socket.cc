#include "core/linux/session/session_socket.h"

#include <sys/un.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cableway::host {

absl::StatusOr<boost::asio::local::stream_protocol::endpoint> session_endpoint(const std::string& cluster,
                                                                               const std::string& runtime_dir) {
  const std::string name = absl::StrCat("cableway/", cluster, "/", runtime_dir);
  constexpr std::size_t kMaxNameBytes = sizeof(sockaddr_un::sun_path) - 2;
  if (name.size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("CABLEWAY_CLUSTER and CABLEWAY_RUNTIME_DIR together are too long: \"", name, "\" has ",
                     name.size(), " bytes; expected at most ", kMaxNameBytes));
  }
  return boost::asio::local::stream_protocol::endpoint(std::string(1, '\0') + name);
}

}  // namespace cableway::host
