// The node's side of the session socket.
#ifndef CABLEWAY_CORE_LINUX_SESSION_SESSION_SERVER_H_
#define CABLEWAY_CORE_LINUX_SESSION_SESSION_SERVER_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/linux/session/session_listener.h"
#include "core/session/session_message.h"
#include "core/session/session_peer.h"

namespace cableway::host {

class SessionServer {
 public:
  // Answers one message after Hello, at once or later; an answer after the session's end is dropped. Called on `io`'s
  // thread; must not block.
  using Answer = std::function<void(SessionMessage)>;
  using Handler = std::function<void(const SessionPeer&, const SessionMessage&, Answer)>;

  // For a process to read one message, beyond what the kernel holds.
  static constexpr std::chrono::seconds kReadLimit{10};

  // Called on `io`'s thread; must not block. Each may be empty.
  struct Listener {
    // is_report(), which are not answered. A status other than OK ends the session with its message.
    std::function<absl::Status(const SessionPeer&, const SessionMessage&)> reported;
    // A session that had sent a report has ended.
    std::function<void(const SessionPeer&)> left;
    // A session that had sent Hello has ended, whatever else it had sent. Answers to it are dropped from here on.
    std::function<void(const SessionPeer&)> ended;
    // A process was refused a session, or its session was ended for a protocol violation.
    std::function<void(std::int64_t process, const std::string& reason)> refused;
    // A session was ended because its process does not read; `unread_bytes` of messages were unread.
    std::function<void(const SessionPeer&, std::size_t unread_bytes)> stalled;
  };

  // Who may connect is the listener's matter (core/linux/session/session_listener.h). A DrainRequest of a user other
  // than root and this process's is refused and does not reach the handler. At most kMaxSessions sessions at a time,
  // shared among users by core/session/session_shares.h. For each session, at most 1 MiB may wait to be read by its
  // process, in addition to two answers, each for at most `read_limit`; a session that exceeds this is ended. Those of
  // its user have a bound of their own (kMaxUnread), at which the user's session with most of them is ended.
  // `port_stamps`: the descriptor that each process receives with its first Welcome
  // (core/linux/gate/shared_port_stamps.h), which must outlive the server; negative: none. The sockets' paths are
  // removed with the server.
  static std::unique_ptr<SessionServer> start(boost::asio::io_context& io, std::vector<SessionListener> listeners,
                                              Welcome welcome, Handler handler, Listener listener = {},
                                              int port_stamps = -1, std::chrono::milliseconds read_limit = kReadLimit);
  ~SessionServer();
  SessionServer(const SessionServer&) = delete;
  SessionServer& operator=(const SessionServer&) = delete;

  // Replaces the Welcome of new sessions, and sends it to all existing ones.
  void update_welcome(const Welcome& welcome);
  // Sends PortLost or PathsChanged to all existing sessions.
  void tell(const SessionMessage& notification);

  // The number of sessions that have sent Hello.
  std::size_t sessions() const;
  // The same, including those that have not sent Hello yet.
  std::size_t connections() const;

 private:
  struct State;
  explicit SessionServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_SESSION_SERVER_H_
