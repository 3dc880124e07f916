// How a node's sessions are shared among the users of its host, so that no user can take them from the others.
// One thread.
#ifndef CABLEWAY_CORE_SESSION_SESSION_SHARES_H_
#define CABLEWAY_CORE_SESSION_SESSION_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace cableway {

// Connections, with or without Hello.
inline constexpr std::size_t kMaxSessions = 1024;
// Of one user other than root and the node's own.
inline constexpr std::size_t kMaxSessionsOfUser = kMaxSessions / 4;
// Of all users other than these two together: the rest is kept for the two, of whom one operates the node.
inline constexpr std::size_t kMaxSessionsOfOthers = kMaxSessions / 8 * 7;

class SessionShares {
 public:
  // `own`: the node's user.
  explicit SessionShares(std::uint32_t own) : own_(own) {}

  // Why no session is left for the user, and what to do about it; "": one is.
  std::string refusal(std::uint32_t user) const;
  void opened(std::uint32_t user);
  void closed(std::uint32_t user);
  std::size_t open() const { return open_; }

 private:
  bool is_operator(std::uint32_t user) const { return user == 0 || user == own_; }
  // "user 1000 has 256"
  std::string greatest() const;

  const std::uint32_t own_;
  std::size_t open_ = 0;
  std::size_t of_others_ = 0;
  std::map<std::uint32_t, std::size_t> by_user_;  // those with sessions
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_SESSION_SHARES_H_
