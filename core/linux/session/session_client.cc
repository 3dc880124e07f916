#include "core/linux/session/session_client.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/own_descriptors.h"
#include "core/linux/session/passed_descriptor.h"
#include "core/wire.h"

namespace cableway::host {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

namespace {

// A restarted node gets reports of all open flows at once: this holds some 25,000 of them with the longest texts.
constexpr std::size_t kMaxUnsentReports = 16U << 20;

// Any user may bind the socket's name, and its owner determines where this process's data goes.
absl::Status check_owner(int socket) {
  ucred owner{};
  socklen_t size = sizeof owner;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &owner, &size) != 0) {
    return absl::ErrnoToStatus(errno, "cannot determine the node's user");
  }
  if (owner.uid == 0 || owner.uid == ::geteuid()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("the node here (process ", owner.pid, ") is run by user ", owner.uid,
                                                  ", not by root or by user ", ::geteuid(),
                                                  ": end it, or use another CABLEWAY_RUNTIME_DIR"));
}

}  // namespace

absl::StatusOr<std::shared_ptr<SessionClient>> SessionClient::connect(boost::asio::io_context& io,
                                                                      const stream_protocol::endpoint& endpoint) {
  std::shared_ptr<SessionClient> client(new SessionClient(io));
  error_code error;
  client->socket_.open(endpoint.protocol(), error);
  if (!error) note_own_socket(client->socket_.native_handle());
  if (!error) client->socket_.native_non_blocking(true, error);
  // Does not use Asio's connect, which blocks indefinitely if the node's backlog is full, as a stopped node's
  // eventually is.
  if (!error && ::connect(client->socket_.native_handle(), endpoint.data(), endpoint.size()) != 0) {
    error = error_code(errno, boost::system::system_category());
  }
  if (error == boost::asio::error::connection_refused) return absl::NotFoundError("no node runs here");
  if (error) return absl::UnavailableError(absl::StrCat("cannot reach the node: ", error.message()));
  if (absl::Status status = check_owner(client->socket_.native_handle()); !status.ok()) return status;
  // An inherited descriptor would keep the session open, and an idle node would never exit.
  static_cast<void>(::fcntl(client->socket_.native_handle(), F_SETFD, FD_CLOEXEC));
  return client;
}

void SessionClient::request(SessionMessage message, Reply reply) {
  if (ended()) {
    boost::asio::post(socket_.get_executor(),
                      [reply = std::move(reply)] { reply(absl::UnavailableError("the session has ended")); });
    return;
  }
  if (auto* path = std::get_if<PathRequest>(&message)) {
    path->request = next_request_++;
    waiting_for_paths_.emplace(path->request, std::move(reply));
  } else {
    welcome_due_ = welcome_due_ || std::holds_alternative<Hello>(message);
    waiting_.push_back(std::move(reply));
  }
  send(message);
  if (!reading_) read_first();
}

void SessionClient::report(const SessionMessage& message) {
  if (ended()) return;
  if (outgoing_bytes_ > kMaxUnsentReports) return close();
  send(message);
}

void SessionClient::send(const SessionMessage& message) {
  outgoing_.push_back(encode_session_message(message));
  outgoing_bytes_ += outgoing_.back().size();
  if (!writing_) write_next();
}

void SessionClient::close() {
  error_code ignored;
  socket_.close(ignored);
  outgoing_.clear();
  outgoing_bytes_ = 0;
  std::deque<Reply> waiting = std::exchange(waiting_, {});
  std::map<std::uint64_t, Reply> paths = std::exchange(waiting_for_paths_, {});
  const absl::Status ended = absl::UnavailableError("the session with the node has ended");
  for (Reply& reply : waiting) reply(ended);
  for (auto& [request, reply] : paths) reply(ended);
}

void SessionClient::write_next() {
  writing_ = !outgoing_.empty();
  if (!writing_) return;
  boost::asio::async_write(socket_, boost::asio::buffer(outgoing_.front()),
                           [self = shared_from_this()](error_code error, std::size_t) {
                             if (self->ended()) return;
                             if (error) return self->close();
                             self->outgoing_bytes_ -= self->outgoing_.front().size();
                             self->outgoing_.pop_front();
                             self->write_next();
                           });
}

void SessionClient::read_first() {
  reading_ = true;
  socket_.async_wait(stream_protocol::socket::wait_read, [self = shared_from_this()](error_code error) {
    if (self->ended()) return;
    error ? self->close() : self->have_first();
  });
}

void SessionClient::have_first() {
  ReceivedWithDescriptor received = receive_with_descriptor(socket_.native_handle(), length_);
  if (received.bytes < 0 && errno == EAGAIN) return read_first();
  // The node sends more than the length at once.
  if (received.bytes != static_cast<ssize_t>(length_.size())) return close();
  have_port_stamps_(std::move(received.descriptor));
  have_length();
}

void SessionClient::read_next() {
  reading_ = true;
  boost::asio::async_read(socket_, boost::asio::buffer(length_),
                          [self = shared_from_this()](error_code error, std::size_t) {
                            if (self->ended()) return;
                            error ? self->close() : self->have_length();
                          });
}

void SessionClient::have_length() {
  WireReader reader(length_);
  const auto bytes = reader.get<std::uint32_t>();
  if (bytes > kMaxSessionMessageBytes) return close();
  body_.resize(bytes);
  boost::asio::async_read(socket_, boost::asio::buffer(body_),
                          [self = shared_from_this()](error_code error, std::size_t) {
                            if (self->ended()) return;
                            error ? self->close() : self->have_body();
                          });
}

void SessionClient::have_body() {
  absl::StatusOr<SessionMessage> message = decode_session_message(body_);
  wipe(body_);  // a Welcome may carry a key
  if (!message.ok() || !take_notification(*message)) give_reply(std::move(message));
  if (!ended()) read_next();
}

bool SessionClient::take_notification(const SessionMessage& message) {
  if (const auto* lost = std::get_if<PortLost>(&message)) {
    port_lost_(*lost);
    return true;
  }
  if (std::holds_alternative<PathsChanged>(message)) {
    paths_changed_();
    return true;
  }
  const auto* welcome = std::get_if<Welcome>(&message);
  if (welcome == nullptr || std::exchange(welcome_due_, false)) return false;
  welcomed_(*welcome);
  return true;
}

void SessionClient::give_reply(absl::StatusOr<SessionMessage> message) {
  const PathReply* path = message.ok() ? std::get_if<PathReply>(&*message) : nullptr;
  Reply reply;
  if (path != nullptr) {
    const auto waiting = waiting_for_paths_.find(path->request);
    if (waiting == waiting_for_paths_.end()) return close();
    reply = std::move(waiting->second);
    waiting_for_paths_.erase(waiting);
  } else {
    if (message.ok() && std::holds_alternative<Refusal>(*message)) {
      message = absl::FailedPreconditionError(std::get<Refusal>(*message).reason);
    }
    // A refusal ends the session, whichever request it answers.
    if (waiting_.empty()) return close();
    reply = std::move(waiting_.front());
    waiting_.pop_front();
  }
  reply(std::move(message));
}

}  // namespace cableway::host
