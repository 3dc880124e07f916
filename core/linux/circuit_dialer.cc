#include "core/linux/circuit_dialer.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/frame.h"
#include "core/linux/data_socket.h"

namespace cableway::linux_ {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kRetryAfter{100};

class Dial : public std::enable_shared_from_this<Dial> {
 public:
  Dial(boost::asio::io_context& io, CircuitSetup setup, DialDone done)
      : setup_(std::move(setup)), done_(std::move(done)), socket_(io), deadline_(io), retry_(io) {}

  void start() {
    deadline_.expires_after(std::chrono::milliseconds(setup_.budget_ms));
    deadline_.async_wait([self = shared_from_this()](error_code stopped) {
      if (!stopped) self->finish(self->failed(absl::StatusCode::kDeadlineExceeded, self->waiting_for_));
    });
    connect();
  }

 private:
  const Hop& hop() const { return setup_.this_hop(); }

  absl::Status failed(absl::StatusCode code, absl::string_view what) const {
    return absl::Status(
        code, absl::StrCat("node ", setup_.this_hop_from(), " cannot reach node ", hop().to_node, " at ",
                           hop().to_address, " port ", hop().to_port, " over cable ", hop().cable, ": ", what));
  }

  void connect() {
    if (absl::Status status = open_and_bind(); !status.ok()) return finish(status);
    absl::StatusOr<boost::asio::ip::address> to = parse_address(hop().to_address);
    if (!to.ok()) return finish(failed(absl::StatusCode::kUnavailable, to.status().message()));
    waiting_for_ = "no answer to the connection (is the cable up, and that address on its other end?)";
    socket_.async_connect(tcp::endpoint(*to, hop().to_port),
                          [self = shared_from_this()](error_code error) { self->connected(error); });
  }

  absl::Status open_and_bind() {
    absl::StatusOr<boost::asio::ip::address> from = parse_address(hop().from_address);
    if (!from.ok()) return failed(absl::StatusCode::kUnavailable, from.status().message());
    error_code error;
    socket_.close(error);
    socket_.open(from->is_v6() ? tcp::v6() : tcp::v4(), error);
    if (error) return failed(absl::StatusCode::kResourceExhausted, error.message());
    if (absl::Status status = prepare_data_socket(socket_.native_handle()); !status.ok()) return status;
    // The path is explicit: a packet that would need a gateway must not find one.
    if (!hop().routed) socket_.set_option(boost::asio::socket_base::do_not_route(true), error);
    // The port is chosen by connect, where it need only be free towards this one peer: chosen here it would have to be
    // free towards everybody, and connections that have just ended keep theirs for a minute. Without it nothing is lost
    // but that.
    const int yes = 1;
    static_cast<void>(::setsockopt(socket_.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes));
    socket_.bind(tcp::endpoint(*from, 0), error);
    if (error) {
      return failed(absl::StatusCode::kUnavailable,
                    absl::StrCat("cannot use ", hop().from_address, " as source address: ", error.message()));
    }
    return absl::OkStatus();
  }

  void connected(error_code error) {
    if (finished_) return;
    const bool may_be_starting = error == boost::asio::error::connection_refused && !setup_.last_hop();
    if (may_be_starting) {
      waiting_for_ = "connection refused (is cablewayd running there?)";
      retry_.expires_after(kRetryAfter);
      retry_.async_wait([self = shared_from_this()](error_code stopped) {
        if (!stopped && !self->finished_) self->connect();
      });
      return;
    }
    if (error) return finish(failed(absl::StatusCode::kUnavailable, error.message()));
    waiting_for_ = "no answer to the set-up";
    // What connecting has taken is gone: the next nodes must give up before this one does.
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_.expiry() - std::chrono::steady_clock::now());
    setup_.budget_ms = static_cast<std::uint32_t>(std::max<std::int64_t>(left.count(), 1));
    const std::vector<std::byte> body = encode_circuit_setup(setup_);
    const FrameBytes header = encode_frame(Frame{FrameKind::kSetup, static_cast<std::uint32_t>(body.size()), 0, 0, 0});
    outgoing_.assign(header.begin(), header.end());
    outgoing_.insert(outgoing_.end(), body.begin(), body.end());
    boost::asio::async_write(socket_, boost::asio::buffer(outgoing_),
                             [self = shared_from_this()](error_code written, std::size_t) { self->sent(written); });
  }

  void sent(error_code error) {
    if (finished_) return;
    if (error) return finish(failed(absl::StatusCode::kUnavailable, error.message()));
    boost::asio::async_read(socket_, boost::asio::buffer(header_),
                            [self = shared_from_this()](error_code read, std::size_t) { self->answered(read); });
  }

  void answered(error_code error) {
    if (finished_) return;
    if (error) {
      return finish(failed(absl::StatusCode::kUnavailable, absl::StrCat("no answer to the set-up: ", error.message())));
    }
    absl::StatusOr<Frame> frame = decode_frame(header_);
    if (!frame.ok()) return finish(failed(absl::StatusCode::kUnavailable, frame.status().message()));
    if (frame->kind == FrameKind::kSetupOk) return finish_connected();
    if (frame->kind != FrameKind::kFailed) {
      return finish(failed(absl::StatusCode::kUnavailable, absl::StrCat("answered by a frame ", to_text(frame->kind))));
    }
    reason_.resize(frame->payload);
    boost::asio::async_read(socket_, boost::asio::buffer(reason_),
                            [self = shared_from_this()](error_code read, std::size_t) { self->refused(read); });
  }

  // The reason comes from the hop that failed and names it, so it is passed on as it is.
  void refused(error_code error) {
    if (finished_) return;
    if (error) reason_ = absl::StrCat("refused, and closed before saying why: ", error.message());
    finish(absl::UnavailableError(printable(reason_)));
  }

  void finish_connected() {
    error_code error;
    const int fd = socket_.release(error);
    finish(error ? absl::StatusOr<UniqueFd>(failed(absl::StatusCode::kInternal, error.message()))
                 : absl::StatusOr<UniqueFd>(UniqueFd(fd)));
  }

  void finish(absl::StatusOr<UniqueFd> result) {
    if (std::exchange(finished_, true)) return;
    error_code ignored;
    deadline_.cancel();
    retry_.cancel();
    socket_.close(ignored);
    std::exchange(done_, nullptr)(std::move(result));
  }

  CircuitSetup setup_;
  DialDone done_;
  tcp::socket socket_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer retry_;
  std::string waiting_for_;
  std::vector<std::byte> outgoing_;
  FrameBytes header_{};
  std::string reason_;
  bool finished_ = false;
};

}  // namespace

void dial_circuit(boost::asio::io_context& io, CircuitSetup setup, DialDone done) {
  auto dial = std::make_shared<Dial>(io, std::move(setup), std::move(done));
  boost::asio::post(io, [dial] { dial->start(); });
}

}  // namespace cableway::linux_
