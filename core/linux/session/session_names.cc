#include "core/linux/session/session_names.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace cableway::host {
namespace {

// With the zero byte after a path, or before an abstract name.
constexpr std::size_t kMaxNameBytes = sizeof(sockaddr_un::sun_path) - 1;
// The greatest number of a user and of a network namespace.
constexpr std::uint64_t kGreatest = std::numeric_limits<std::uint32_t>::max();

std::string abstract_name(const Settings& settings, std::uint64_t user) {
  return absl::StrCat("cableway/", user, "/", settings.cluster, "/", settings.runtime_dir);
}

// Unambiguous, since a cluster's name has no comma, and a namespace has only digits.
std::string file_name(const Settings& settings, std::uint64_t network) {
  const std::string runtime_dir = absl::StrReplaceAll(settings.runtime_dir, {{"%", "%25"}, {"/", "%2F"}});
  return absl::StrCat(settings.cluster, ",", runtime_dir, ",", network);
}

// Nodes in several network namespaces may share a file system, as in a lab. The kernel numbers namespaces alike for all
// processes of the host, so that a container with the host's network finds the host's node.
absl::StatusOr<std::uint64_t> network_namespace() {
  struct stat status {};
  constexpr char kFile[] = "/proc/thread-self/ns/net";
  if (::stat(kFile, &status) == 0) return status.st_ino;
  return absl::UnavailableError(
      absl::StrCat("cannot determine the network namespace from ", kFile, ": ", std::strerror(errno), "; mount /proc"));
}

// /run/user/<user> is systemd's, and only that user can write there. /tmp can be written by all users.
std::vector<std::string> folders_of(uid_t user) {
  return {absl::StrCat("/run/user/", user, "/cableway"), absl::StrCat("/tmp/cableway-", user)};
}

}  // namespace

absl::Status check_session_names(const Settings& settings) {
  const std::string path = absl::StrCat(settings.session_dir, "/", file_name(settings, kGreatest));
  const std::string name = abstract_name(settings, kGreatest);
  const std::string& longer = path.size() > name.size() ? path : name;
  if (longer.size() <= kMaxNameBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("CABLEWAY_CLUSTER, CABLEWAY_RUNTIME_DIR and CABLEWAY_SESSION_DIR together are too long: \"", longer,
                   "\" has ", longer.size(), " bytes; expected at most ", kMaxNameBytes));
}

absl::StatusOr<SessionNames> session_names(const Settings& settings) {
  const uid_t user = ::geteuid();
  return session_names(settings, user, folders_of(user));
}

absl::StatusOr<SessionNames> session_names(const Settings& settings, uid_t user,
                                           const std::vector<std::string>& user_folders) {
  if (absl::Status status = check_session_names(settings); !status.ok()) return status;
  const absl::StatusOr<std::uint64_t> network = network_namespace();
  if (!network.ok()) return network.status();
  const std::string file = file_name(settings, *network);
  SessionNames names;
  names.shared = absl::StrCat(settings.session_dir, "/", file);
  names.own = abstract_name(settings, user);
  names.roots = abstract_name(settings, 0);
  for (const std::string& folder : user_folders) {
    std::string path = absl::StrCat(folder, "/", file);
    if (path.size() <= kMaxNameBytes) names.standby.push_back(std::move(path));
  }
  return names;
}

boost::asio::local::stream_protocol::endpoint abstract_endpoint(const std::string& name) {
  return {std::string(1, '\0') + name};
}

}  // namespace cableway::host
