#include "core/linux/session/session_client.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/session/passed_descriptor.h"
#include "core/linux/session/session_dialer.h"
#include "core/wire.h"

namespace cableway::host {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

namespace {

// A restarted node gets reports of all open flows at once: this holds some 25,000 of them with the longest texts.
constexpr std::size_t kMaxUnsentReports = 16U << 20;
// As many as boost::asio gives the kernel in one call.
constexpr std::size_t kMaxWrittenAtOnce = 64;

}  // namespace

absl::StatusOr<std::shared_ptr<SessionClient>> SessionClient::connect(boost::asio::io_context& io,
                                                                      const SessionNames& names) {
  absl::StatusOr<UniqueFd> node = dial_node(names);
  if (!node.ok()) return node.status();
  std::shared_ptr<SessionClient> client(new SessionClient(io));
  error_code error;
  client->socket_.assign(stream_protocol(), node->get(), error);
  if (error) return absl::UnavailableError(absl::StrCat("cannot reach the node: ", error.message()));
  node->release();
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
  if (ended() || unheard_) return;
  if (outgoing_bytes_ > kMaxUnsentReports) return close();
  send(message);
}

void SessionClient::send(const SessionMessage& message) {
  if (unheard_) return;
  outgoing_.push_back(encode_session_message(message));
  outgoing_bytes_ += outgoing_.back().size();
  if (writing_ == 0) write_next();
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
  writing_ = std::min(outgoing_.size(), kMaxWrittenAtOnce);
  if (writing_ == 0) return;
  std::vector<boost::asio::const_buffer> messages;
  for (std::size_t i = 0; i < writing_; ++i) messages.push_back(boost::asio::buffer(outgoing_[i]));
  boost::asio::async_write(socket_, messages, [self = shared_from_this()](error_code error, std::size_t) {
    if (self->ended()) return;
    if (error) return self->write_failed();
    for (; self->writing_ > 0; --self->writing_) {
      self->outgoing_bytes_ -= self->outgoing_.front().size();
      self->outgoing_.pop_front();
    }
    self->write_next();
  });
}

// A node that refuses a session sends its reason and closes, maybe before this process has written: that is still read.
void SessionClient::write_failed() {
  unheard_ = true;
  writing_ = 0;
  outgoing_.clear();
  outgoing_bytes_ = 0;
  if (!reading_) close();
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
