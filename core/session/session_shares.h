// How a node's sessions, and the memory for answers that their processes have not read, are shared among the users of
// its host, so that no user can take them from the others.
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

// Bytes of messages that processes have not read, in equal shares for the users that have sessions. A user below its
// share may have one more message of any size, since a view of a large cluster may have several megabytes.
inline constexpr std::size_t kMaxUnread = std::size_t{32} << 20;

class SessionShares {
 public:
  // `own`: the node's user.
  explicit SessionShares(std::uint32_t own) : own_(own) {}

  // Why no session is left for the user, and what to do about it; "": one is.
  std::string refusal(std::uint32_t user) const;
  void opened(std::uint32_t user);
  void closed(std::uint32_t user);
  std::size_t open() const { return open_; }

  // Whether one more message may wait for a process of the user, which has a session.
  bool may_queue(std::uint32_t user) const;
  void queued(std::uint32_t user, std::size_t bytes);
  // Read by the process, or dropped.
  void dequeued(std::uint32_t user, std::size_t bytes);

 private:
  struct Held {
    std::size_t sessions = 0;
    std::size_t unread = 0;  // bytes
  };

  bool is_operator(std::uint32_t user) const { return user == 0 || user == own_; }
  // "user 1000 has 256"
  std::string greatest() const;

  const std::uint32_t own_;
  std::size_t open_ = 0;
  std::size_t of_others_ = 0;
  std::map<std::uint32_t, Held> by_user_;  // those with sessions
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_SESSION_SHARES_H_
