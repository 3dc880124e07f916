// Who may open sessions with the system node of this network namespace, as its socket tells. Callable from any thread.
#ifndef CABLEWAY_CORE_LINUX_SESSION_SESSION_ACCESS_H_
#define CABLEWAY_CORE_LINUX_SESSION_SESSION_ACCESS_H_

#include <cstddef>
#include <string>

namespace cableway::host {

struct SessionAccess {
  bool has_socket = false;  // there is a system node's socket; else only `user` is known
  bool everyone = false;
  std::string group;        // besides root; "": no other user
  std::size_t members = 0;  // users that the group lists
  std::string user;         // this process's
  bool is_member = false;   // the host lists `user` in the group, but its login may be older
};

// `socket`: SessionNames::shared.
SessionAccess read_session_access(const std::string& socket);

// "only root", "root and group cableway (2 members)", "every user".
std::string admitted_text(const SessionAccess& access);
// The commands that give this process's user access. Precondition: the user has none.
std::string admission_advice(const SessionAccess& access);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_SESSION_ACCESS_H_
