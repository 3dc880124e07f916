// The node's side of the session socket.
#ifndef CABLEWAY_CORE_LINUX_SESSION_SESSION_SERVER_H_
#define CABLEWAY_CORE_LINUX_SESSION_SESSION_SERVER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/session/flow_ledger.h"
#include "core/session/session_message.h"

namespace cableway::host {

class SessionServer {
 public:
  // Answers one message after Hello, at once or later; an answer that comes after its session's end is dropped. On
  // `io`'s thread; must not block.
  using Answer = std::function<void(SessionMessage)>;
  using Handler = std::function<void(const SessionMessage&, Answer)>;

  // On `io`'s thread; must not block. Any of them may be empty.
  struct Listener {
    // FlowOpened or FlowEnded, which nobody answers. A status other than OK ends the session with these words.
    std::function<absl::Status(const SessionPeer&, const SessionMessage&)> told;
    // A session that told something is over.
    std::function<void(const SessionPeer&)> left;
    // That process was refused a session, or had it ended for a breach of the protocol, and why.
    std::function<void(std::int64_t process, const std::string& reason)> refused;
    // That session was ended because its process does not read, with so many bytes of answers waiting.
    std::function<void(const SessionPeer&, std::size_t waiting_bytes)> stalled;
  };

  // AlreadyExists: another node holds the socket. Peers must run as the same user as this process, or as root; where
  // this process is root, as anyone. At most 1,024 sessions at a time. Of each at most 1 MiB waits to be read by its
  // process, beside two answers; whoever lets more come together has its session ended.
  static absl::StatusOr<std::unique_ptr<SessionServer>> listen(
      boost::asio::io_context& io, const boost::asio::local::stream_protocol::endpoint& endpoint, Welcome welcome,
      Handler handler, Listener listener = {});
  ~SessionServer();
  SessionServer(const SessionServer&) = delete;
  SessionServer& operator=(const SessionServer&) = delete;

  // What new sessions are welcomed with, and all others are told now.
  void update_welcome(const Welcome& welcome);

  // Sessions that said Hello.
  std::size_t sessions() const;
  // The same, and those that are about to.
  std::size_t connections() const;

 private:
  struct State;
  explicit SessionServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_SESSION_SERVER_H_
