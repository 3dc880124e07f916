#include "core/linux/session/session_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <deque>
#include <list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/session/local_socket.h"
#include "core/linux/session/passed_descriptor.h"
#include "core/session/session_input.h"
#include "core/session/session_shares.h"

namespace cableway::host {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

namespace {

constexpr std::size_t kMaxUnanswered = 256;
// In addition to the message being written. From half of it on, requests are no longer read, so only answers to
// earlier requests and notifications can exceed it.
constexpr std::size_t kMaxUnsent = 1U << 20;
constexpr std::size_t kMaxRequestBytes = 65536;
constexpr std::chrono::seconds kHelloLimit{5};

bool may_drain(const ucred& peer) {
  return peer.uid == 0 || peer.uid == ::geteuid();
}

}  // namespace

struct SessionServer::State : std::enable_shared_from_this<State> {
  State(Welcome node_welcome, Handler on_request, Listener node_listener, int stamps, std::chrono::milliseconds limit)
      : welcome(std::move(node_welcome)),
        handler(std::move(on_request)),
        listener(std::move(node_listener)),
        port_stamps(stamps),
        read_limit(limit) {}

  class Session;

  struct Door {
    Door(boost::asio::io_context& io, SessionListener& listener)
        : acceptor(io, stream_protocol(), listener.socket.release()),
          pause(io),
          shared(listener.shared),
          path(std::move(listener.path)) {}

    stream_protocol::acceptor acceptor;
    boost::asio::steady_timer pause;
    const bool shared;
    std::optional<SocketPath> path;
  };

  std::list<Door> doors;
  Welcome welcome;
  Handler handler;
  Listener listener;
  const int port_stamps;
  const std::chrono::milliseconds read_limit;
  std::uint64_t last_session = 0;
  SessionShares shares{::geteuid()};
  std::set<Session*> greeted;

  void accept(Door& door);
  void take(const Door& door, stream_protocol::socket socket);
  void send_to_all(const SessionMessage& message) const;
  // Among the user's sessions, of which `other` is one.
  Session& most_unread_of(uid_t user, Session& other) const;
  // Sent before the connection closes. It fits into the peer's empty buffer, so the peer reads it in place of an
  // answer.
  void refuse(stream_protocol::socket& socket, std::int64_t process, const std::string& reason);
  void note_refused(std::int64_t process, const std::string& reason) const {
    if (listener.refused) listener.refused(process, reason);
  }
};

// One connection. Requests are read while earlier ones wait for their answers, up to a limit of those.
class SessionServer::State::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<State> server, stream_protocol::socket socket, const ucred& peer)
      : server_(std::move(server)),
        socket_(std::move(socket)),
        peer_{++server_->last_session, peer.pid, peer.uid},
        may_drain_(may_drain(peer)),
        hello_limit_(socket_.get_executor()),
        read_limit_(socket_.get_executor()) {
    server_->shares.opened(peer_.user);
  }
  ~Session() {
    drop_unsent();
    server_->shares.closed(peer_.user);
    leave();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() {
    hello_limit_.expires_after(kHelloLimit);
    hello_limit_.async_wait([weak = weak_from_this()](error_code stopped) {
      const auto self = weak.lock();
      if (!stopped && self && !self->greeted_) self->close();
    });
    read();
  }

  void send(const SessionMessage& message) {
    if (!socket_.is_open() || unheard_) return;
    if (waiting_bytes_ > kMaxUnsent) return close_unread();
    // The one that leaves most unread gives way, so that notifications reach the user's other processes.
    while (!server_->shares.may_queue(peer_.user)) {
      Session& most = server_->most_unread_of(peer_.user, *this);
      most.close_unread();
      if (&most == this) return;
    }
    queue(encode_session_message(message));
    if (outgoing_.size() == 1) return write();
    waiting_bytes_ += outgoing_.back().size();
  }

  uid_t user() const { return peer_.user; }
  std::size_t unread_bytes() const { return unread_bytes_; }

 private:
  void read() {
    reading_ = true;
    const std::span<std::byte> room = input_.room();
    socket_.async_read_some(boost::asio::buffer(room.data(), room.size()),
                            [self = shared_from_this()](error_code error, std::size_t bytes) {
                              self->may_go_on(error) ? self->have(bytes) : self->close();
                            });
  }

  void limit_reading() {
    read_limit_.expires_after(server_->read_limit);
    read_limit_.async_wait([weak = weak_from_this()](error_code stopped) {
      const auto self = weak.lock();
      if (stopped || !self || self->outgoing_.empty()) return;
      const auto late = std::chrono::steady_clock::now() - self->read_limit_.expiry();
      // Another message is being written by now.
      if (late < std::chrono::seconds(0)) return;
      // This process stood still meanwhile, and may not have noticed what has been read.
      late > self->server_->read_limit / 4 ? self->limit_reading() : self->close_unread();
    });
  }

  // The socket may have been closed between the read and its completion.
  bool may_go_on(const error_code& error) const { return !error && socket_.is_open(); }

  void have(std::size_t bytes) {
    reading_ = false;
    input_.filled(bytes);
    read_on();
  }

  // Takes the reports that have come, up to a request: other sessions come first, as a request may need time. Then
  // reads further ones.
  void read_on() {
    if (taking_) return;
    taking_ = true;
    while (may_read() && take_request()) {
    }
    taking_ = false;
  }

  bool may_read() const {
    const bool has_room = unanswered_ + outgoing_.size() < kMaxUnanswered && waiting_bytes_ < kMaxUnsent / 2;
    return !reading_ && !refusing_ && socket_.is_open() && has_room;
  }

  // Whether to take the next one at once.
  bool take_request() {
    const auto next = input_.next();
    if (!next.ok()) {
      refuse(std::string(next.status().message()));
      return false;
    }
    if (!*next) {
      read();
      return false;
    }
    const absl::StatusOr<SessionMessage> message = decode_session_message(**next);
    if (!message.ok()) {
      refuse(std::string(message.status().message()));
      return false;
    }
    if (greeted_ && is_report(*message)) {
      receive_report(*message);
      return true;
    }
    have_request(*message);
    boost::asio::post(socket_.get_executor(), [self = shared_from_this()] { self->read_on(); });
    return false;
  }

  void have_request(const SessionMessage& request) {
    if (!greeted_) return greet(request);
    ++unanswered_;
    if (std::holds_alternative<DrainRequest>(request) && !may_drain_) {
      return answer(DrainReply{"only root and the user of the node may drain it or its cables"});
    }
    server_->handler(peer_, request, [weak = weak_from_this()](const SessionMessage& answer) {
      if (const auto self = weak.lock()) self->answer(answer);
    });
  }

  void greet(const SessionMessage& request) {
    const Hello* hello = std::get_if<Hello>(&request);
    if (hello == nullptr) return refuse("the first message must be Hello");
    if (hello->version != kSessionVersion) {
      return refuse(absl::StrCat("this node uses session version ", kSessionVersion, "; the process uses ",
                                 hello->version, ": install the same Cableway for both"));
    }
    greeted_ = true;
    server_->greeted.insert(this);
    send_first(encode_session_message(server_->welcome));
  }

  // Sends the message with the descriptor, into the peer's empty buffer.
  void send_first(std::vector<std::byte> message) {
    // If the kernel refuses the descriptor, the process gets none and reports that.
    ssize_t sent = 0;
    if (server_->port_stamps >= 0) {
      sent = send_with_descriptor(socket_.native_handle(), message, server_->port_stamps);
    }
    sent = std::max<ssize_t>(sent, 0);
    queue(std::move(message));
    write(static_cast<std::size_t>(sent));
  }

  void receive_report(const SessionMessage& report) {
    has_reported_ = true;
    const absl::Status taken =
        server_->listener.reported ? server_->listener.reported(peer_, report) : absl::OkStatus();
    if (!taken.ok()) refuse(std::string(taken.message()));
  }

  void answer(const SessionMessage& answer) {
    if (refusing_) return;
    send(answer);
    --unanswered_;
    read_on();
  }

  // Sends the reason and reads no further requests.
  void refuse(std::string reason) {
    refusing_ = true;
    leave();
    server_->note_refused(peer_.process, reason);
    send(Refusal{std::move(reason)});
  }

  void queue(std::vector<std::byte> message) {
    server_->shares.queued(peer_.user, message.size());
    unread_bytes_ += message.size();
    outgoing_.push_back(std::move(message));
  }

  // Writes the rest of the first message after `sent` bytes.
  void write(std::size_t sent = 0) {
    limit_reading();
    boost::asio::async_write(socket_, boost::asio::buffer(outgoing_.front()) + sent,
                             [self = shared_from_this()](error_code error, std::size_t) {
                               // The socket may have been closed between the write and this call.
                               if (!self->socket_.is_open()) return self->close();
                               error ? self->write_failed() : self->written();
                             });
  }

  // A process that fails and exits at once has sent its reports, which may not have been read yet.
  void write_failed() {
    unheard_ = true;
    drop_unsent();
    if (!refusing_) read_on();
    if (!reading_) close();
  }

  void written() {
    read_limit_.cancel();
    server_->shares.dequeued(peer_.user, outgoing_.front().size());
    unread_bytes_ -= outgoing_.front().size();
    wipe(outgoing_.front());
    outgoing_.pop_front();
    if (outgoing_.empty()) return refusing_ ? close() : read_on();
    waiting_bytes_ -= outgoing_.front().size();
    write();
    read_on();
  }

  void close_unread() {
    if (server_->listener.stalled) server_->listener.stalled(peer_, unread_bytes_);
    close();
  }

  // Removes it from the sessions.
  void leave() {
    const bool was_greeted = server_->greeted.erase(this) > 0;
    if (std::exchange(has_reported_, false) && server_->listener.left) server_->listener.left(peer_);
    if (was_greeted && server_->listener.ended) server_->listener.ended(peer_);
  }

  void close() {
    leave();
    drop_unsent();
    error_code ignored;
    socket_.close(ignored);
  }

  void drop_unsent() {
    read_limit_.cancel();
    for (std::vector<std::byte>& unsent : outgoing_) {
      server_->shares.dequeued(peer_.user, unsent.size());
      wipe(unsent);
    }
    outgoing_.clear();
    waiting_bytes_ = 0;
    unread_bytes_ = 0;
  }

  std::shared_ptr<State> server_;
  stream_protocol::socket socket_;
  const SessionPeer peer_;
  const bool may_drain_;
  boost::asio::steady_timer hello_limit_;
  boost::asio::steady_timer read_limit_;
  SessionInput input_{kMaxRequestBytes};
  std::deque<std::vector<std::byte>> outgoing_;  // the first is being written
  std::size_t waiting_bytes_ = 0;                // of the other messages
  std::size_t unread_bytes_ = 0;                 // of all
  std::size_t unanswered_ = 0;
  bool reading_ = false;
  bool taking_ = false;  // read_on() goes on
  bool refusing_ = false;
  bool unheard_ = false;  // the process no longer reads
  bool greeted_ = false;
  bool has_reported_ = false;
};

void SessionServer::State::refuse(stream_protocol::socket& socket, std::int64_t process, const std::string& reason) {
  const std::vector<std::byte> bytes = encode_session_message(Refusal{reason});
  static_cast<void>(::send(socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  note_refused(process, reason);
}

void SessionServer::State::accept(Door& door) {
  door.acceptor.async_accept([self = shared_from_this(), &door](error_code error, stream_protocol::socket socket) {
    if (!door.acceptor.is_open()) return;
    if (error) {
      // Most likely out of descriptors: an immediate retry would spin.
      door.pause.expires_after(std::chrono::milliseconds(100));
      door.pause.async_wait([self, &door](error_code stopped) {
        if (!stopped && door.acceptor.is_open()) self->accept(door);
      });
      return;
    }
    self->take(door, std::move(socket));
    self->accept(door);
  });
}

void SessionServer::State::take(const Door& door, stream_protocol::socket socket) {
  const std::optional<ucred> peer = peer_of(socket.native_handle());
  if (!peer || (!door.shared && !may_drain(*peer))) {
    return refuse(socket, peer ? peer->pid : 0, "this node is run by another user");
  }
  if (const std::string reason = shares.refusal(peer->uid); !reason.empty()) return refuse(socket, peer->pid, reason);
  std::make_shared<Session>(shared_from_this(), std::move(socket), *peer)->start();
}

void SessionServer::State::send_to_all(const SessionMessage& message) const {
  // Iterates over a copy: a session that does not read is closed by this, which removes it from the set.
  const std::set<Session*> sessions = greeted;
  for (Session* session : sessions) session->send(message);
}

SessionServer::State::Session& SessionServer::State::most_unread_of(uid_t user, Session& other) const {
  Session* most = &other;
  for (Session* session : greeted) {
    if (session->user() == user && session->unread_bytes() > most->unread_bytes()) most = session;
  }
  return *most;
}

std::unique_ptr<SessionServer> SessionServer::start(boost::asio::io_context& io, std::vector<SessionListener> listeners,
                                                    Welcome welcome, Handler handler, Listener listener,
                                                    int port_stamps, std::chrono::milliseconds read_limit) {
  auto state =
      std::make_shared<State>(std::move(welcome), std::move(handler), std::move(listener), port_stamps, read_limit);
  for (SessionListener& each : listeners) state->doors.emplace_back(io, each);
  return std::unique_ptr<SessionServer>(new SessionServer(std::move(state)));
}

SessionServer::SessionServer(std::shared_ptr<State> state) : state_(std::move(state)) {
  for (State::Door& door : state_->doors) state_->accept(door);
}

SessionServer::~SessionServer() {
  for (State::Door& door : state_->doors) {
    // Before it closes: another node may then make a socket there.
    door.path.reset();
    error_code ignored;
    door.acceptor.close(ignored);
    door.pause.cancel();
  }
  // Sessions may outlive the server's owner.
  state_->listener = {};
}

void SessionServer::update_welcome(const Welcome& welcome) {
  state_->welcome = welcome;
  state_->send_to_all(welcome);
}

void SessionServer::tell(const SessionMessage& notification) {
  state_->send_to_all(notification);
}

std::size_t SessionServer::sessions() const {
  return state_->greeted.size();
}

std::size_t SessionServer::connections() const {
  return state_->shares.open();
}

}  // namespace cableway::host
