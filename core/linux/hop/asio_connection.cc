#include "core/linux/hop/asio_connection.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/tcp/data_socket.h"
#include "core/linux/tcp/lingering_close.h"

namespace cableway::host {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

absl::Status ended(error_code error) {
  return error ? absl::UnavailableError(error.message()) : absl::OkStatus();
}

class AsioConnection final : public SetupConnection {
 public:
  explicit AsioConnection(tcp::socket socket) : state_(std::make_shared<State>(std::move(socket))) {}
  ~AsioConnection() override { state_->close(); }

  void read(std::size_t bytes, HaveBytes have) override {
    state_->incoming.resize(bytes);
    boost::asio::async_read(state_->socket, boost::asio::buffer(state_->incoming),
                            [state = state_, have = std::move(have)](error_code error, std::size_t) {
                              if (!state->closed) have(ended(error), error ? std::span<std::byte>() : state->incoming);
                            });
  }
  void send(std::vector<std::byte> bytes, Sent sent) override {
    state_->outgoing = std::move(bytes);
    boost::asio::async_write(state_->socket, boost::asio::buffer(state_->outgoing),
                             [state = state_, sent = std::move(sent)](error_code error, std::size_t) {
                               if (!state->closed) sent(ended(error));
                             });
  }
  absl::Status send_first(const std::vector<std::byte>& bytes) override {
    if (send_now(bytes)) return absl::OkStatus();
    return absl::UnavailableError("the connection has ended");
  }
  void end_with(const std::vector<std::byte>& final_frame) override {
    // The connection ends here whether or not the bytes arrive; without them the peer reports its end as the reason.
    static_cast<void>(send_now(final_frame));
    auto& io = static_cast<boost::asio::io_context&>(state_->socket.get_executor().context());
    close_refused(io, release());
  }
  // A reset, so that no kernel memory waits for a peer that does not close its end.
  void abandon() override {
    state_->socket.set_option(boost::asio::socket_base::linger(true, 0), ignored_);
    state_->close();
  }
  std::string own_address() const override { return address(state_->socket.local_endpoint(ignored_)); }
  std::string other_address() const override { return address(state_->socket.remote_endpoint(ignored_)); }
  std::string other_end() const override {
    error_code error;
    const tcp::endpoint peer = state_->socket.remote_endpoint(error);
    return error ? "a disconnected peer" : absl::StrCat(peer.address().to_string(), " TCP port ", peer.port());
  }

  UniqueFd release() {
    error_code error;
    state_->closed = true;
    return UniqueFd(state_->socket.release(error));
  }

 private:
  // State that pending operations need until they complete, which may be after the connection is destroyed.
  struct State {
    explicit State(tcp::socket connected) : socket(std::move(connected)) {}

    void close() {
      closed = true;
      error_code ignored;
      socket.close(ignored);
    }

    tcp::socket socket;
    std::vector<std::byte> incoming;
    std::vector<std::byte> outgoing;
    bool closed = false;
  };

  static std::string address(const tcp::endpoint& endpoint) { return endpoint.address().to_string(); }
  bool send_now(const std::vector<std::byte>& bytes) {
    return ::send(state_->socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

  const std::shared_ptr<State> state_;
  mutable error_code ignored_;
};

// Binds the hop's own address. The path is explicit, so a packet that would need a gateway must not find one.
absl::Status open_and_bind(const Hop& hop, tcp::socket& socket) {
  const absl::StatusOr<boost::asio::ip::address> from = parse_address(hop.from_address);
  if (!from.ok()) return absl::UnavailableError(from.status().message());
  error_code error;
  socket.open(from->is_v6() ? tcp::v6() : tcp::v4(), error);
  if (error) return absl::ResourceExhaustedError(error.message());
  if (absl::Status status = prepare_data_socket(socket.native_handle()); !status.ok()) {
    return absl::UnavailableError(status.message());  // regardless of the errno: NotFound means that no process listens
  }
  if (!hop.routed) socket.set_option(boost::asio::socket_base::do_not_route(true), error);
  // Defers the choice of the TCP port to connect(), where the port need only be free for this one peer. A port chosen
  // here would have to be free for all peers, and connections that have just ended hold theirs for a minute. If the
  // option fails, only this advantage is lost.
  const int yes = 1;
  static_cast<void>(::setsockopt(socket.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes));
  socket.bind(tcp::endpoint(*from, 0), error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot use ", hop.from_address, " as source address: ", error.message()));
}

class AsioAttempt final : public SetupConnector::Attempt {
 public:
  AsioAttempt(boost::asio::io_context& io, const Hop& hop, SetupConnector::Connected connected)
      : state_(std::make_shared<State>(io)) {
    state_->connected = std::move(connected);
    absl::Status status = open_and_bind(hop, state_->socket);
    const absl::StatusOr<boost::asio::ip::address> to = parse_address(hop.to_address);
    if (status.ok() && !to.ok()) status = absl::UnavailableError(to.status().message());
    if (!status.ok()) {
      boost::asio::post(io, [state = state_, status] { state->finish(status); });
      return;
    }
    state_->socket.async_connect(tcp::endpoint(*to, hop.to_port),
                                 [state = state_](error_code error) { state->have(error); });
  }
  ~AsioAttempt() override { state_->drop(); }

 private:
  struct State {
    explicit State(boost::asio::io_context& io) : socket(io) {}

    void have(error_code error) {
      if (!error) return finish(make_setup_connection(std::move(socket)));
      const bool refused = error == boost::asio::error::connection_refused;
      finish(refused ? absl::NotFoundError(error.message()) : absl::UnavailableError(error.message()));
    }
    void finish(absl::StatusOr<std::unique_ptr<SetupConnection>> result) {
      if (connected) std::exchange(connected, nullptr)(std::move(result));
    }
    void drop() {
      connected = nullptr;
      error_code ignored;
      socket.close(ignored);
    }

    tcp::socket socket;
    SetupConnector::Connected connected;  // null: dropped
  };

  const std::shared_ptr<State> state_;
};

}  // namespace

std::unique_ptr<SetupConnection> make_setup_connection(tcp::socket socket) {
  return std::make_unique<AsioConnection>(std::move(socket));
}

UniqueFd release_socket(std::unique_ptr<SetupConnection> connection) {
  return static_cast<AsioConnection&>(*connection).release();
}

HopConnection release(OpenHop hop) {
  std::unique_ptr<HostEnd> end(static_cast<HostEnd*>(hop.transport.end.release()));
  return {release_socket(std::move(hop.connection)), std::move(end), std::move(hop.transport.why), hop.chunk_bytes};
}

std::unique_ptr<SetupConnector::Attempt> AsioConnector::connect(const Hop& hop, Connected connected) {
  return std::make_unique<AsioAttempt>(io_, hop, std::move(connected));
}

}  // namespace cableway::host
