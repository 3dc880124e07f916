#include "core/linux/session_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/wire.h"

namespace cableway::linux_ {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

namespace {

constexpr std::size_t kMaxSessions = 1024;
constexpr std::uint32_t kMaxRequestBytes = 65536;
constexpr std::chrono::seconds kHelloLimit{5};

bool may_connect(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || ::geteuid() == 0 || peer.uid == ::geteuid();
}

}  // namespace

struct SessionServer::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& io, Welcome node_welcome, Handler on_request)
      : acceptor(io), pause(io), welcome(std::move(node_welcome)), handler(std::move(on_request)) {}

  stream_protocol::acceptor acceptor;
  boost::asio::steady_timer pause;
  Welcome welcome;
  Handler handler;
  std::size_t connections = 0;
  std::size_t sessions = 0;

  void accept();
};

namespace {

// One connection: a request, its answer, the next request.
template <typename State>
class Session : public std::enable_shared_from_this<Session<State>> {
 public:
  Session(std::shared_ptr<State> server, stream_protocol::socket socket)
      : server_(std::move(server)), socket_(std::move(socket)), hello_limit_(socket_.get_executor()) {
    ++server_->connections;
  }
  ~Session() {
    --server_->connections;
    if (greeted_) --server_->sessions;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() {
    hello_limit_.expires_after(kHelloLimit);
    hello_limit_.async_wait([weak = this->weak_from_this()](error_code stopped) {
      const auto self = weak.lock();
      if (!stopped && self && !self->greeted_) self->close();
    });
    read();
  }

 private:
  void read() {
    boost::asio::async_read(socket_, boost::asio::buffer(length_),
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              if (!error) self->have_length();
                            });
  }

  void have_length() {
    WireReader reader(length_);
    const auto bytes = reader.get<std::uint32_t>();
    if (bytes > kMaxRequestBytes) {
      return answer(Refusal{absl::StrCat("a request of ", bytes, " bytes, at most ", kMaxRequestBytes)}, false);
    }
    body_.resize(bytes);
    boost::asio::async_read(socket_, boost::asio::buffer(body_),
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              if (!error) self->have_request();
                            });
  }

  void have_request() {
    absl::StatusOr<SessionMessage> request = decode_session_message(body_);
    if (!request.ok()) return answer(Refusal{std::string(request.status().message())}, false);
    if (greeted_) return answer(server_->handler(*request), true);
    const Hello* hello = std::get_if<Hello>(&*request);
    if (hello == nullptr) return answer(Refusal{"the first message must be Hello"}, false);
    if (hello->version != kProtocolVersion) {
      return answer(Refusal{absl::StrCat("this node speaks protocol version ", kProtocolVersion, ", the process ",
                                         hello->version, ": install the same Cableway for both")},
                    false);
    }
    greeted_ = true;
    ++server_->sessions;
    answer(server_->welcome, true);
  }

  void answer(const SessionMessage& message, bool go_on) {
    answer_ = encode_session_message(message);
    boost::asio::async_write(socket_, boost::asio::buffer(answer_),
                             [self = this->shared_from_this(), go_on](error_code error, std::size_t) {
                               if (!error && go_on) self->read();
                             });
  }

  void close() {
    error_code ignored;
    socket_.close(ignored);
  }

  std::shared_ptr<State> server_;
  stream_protocol::socket socket_;
  boost::asio::steady_timer hello_limit_;
  std::array<std::byte, sizeof(std::uint32_t)> length_{};
  std::vector<std::byte> body_;
  std::vector<std::byte> answer_;
  bool greeted_ = false;
};

// In the peer's buffer, which is empty, before the connection closes: it will read that in place of an answer.
void refuse(stream_protocol::socket& socket, std::string reason) {
  const std::vector<std::byte> bytes = encode_session_message(Refusal{std::move(reason)});
  static_cast<void>(!::send(socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace

void SessionServer::State::accept() {
  acceptor.async_accept([self = shared_from_this()](error_code error, stream_protocol::socket socket) {
    if (!self->acceptor.is_open()) return;
    if (error) {
      // Out of descriptors, most likely: trying again at once would spin.
      self->pause.expires_after(std::chrono::milliseconds(100));
      self->pause.async_wait([self](error_code stopped) {
        if (!stopped && self->acceptor.is_open()) self->accept();
      });
      return;
    }
    if (!may_connect(socket.native_handle())) {
      refuse(socket, "this node is another user's");
    } else if (self->connections >= kMaxSessions) {
      refuse(socket, absl::StrCat("this node has ", kMaxSessions, " sessions already"));
    } else {
      std::make_shared<Session<State>>(self, std::move(socket))->start();
    }
    self->accept();
  });
}

absl::StatusOr<std::unique_ptr<SessionServer>> SessionServer::listen(boost::asio::io_context& io,
                                                                     const stream_protocol::endpoint& endpoint,
                                                                     Welcome welcome, Handler handler) {
  auto state = std::make_shared<State>(io, std::move(welcome), std::move(handler));
  error_code error;
  state->acceptor.open(endpoint.protocol(), error);
  if (!error) state->acceptor.bind(endpoint, error);
  if (!error) state->acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error == boost::asio::error::address_in_use) {
    return absl::AlreadyExistsError("a node of this cluster and runtime dir already runs in this network namespace");
  }
  if (error) return absl::UnavailableError(absl::StrCat("cannot open the session socket: ", error.message()));
  return std::unique_ptr<SessionServer>(new SessionServer(std::move(state)));
}

SessionServer::SessionServer(std::shared_ptr<State> state) : state_(std::move(state)) {
  state_->accept();
}

SessionServer::~SessionServer() {
  error_code ignored;
  state_->acceptor.close(ignored);
  state_->pause.cancel();
}

std::size_t SessionServer::sessions() const {
  return state_->sessions;
}

std::size_t SessionServer::connections() const {
  return state_->connections;
}

}  // namespace cableway::linux_
