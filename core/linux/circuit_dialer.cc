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
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/circuit_seal.h"
#include "core/frame.h"
#include "core/linux/data_socket.h"
#include "core/linux/random_value.h"
#include "core/rdma_chunk_link.h"

namespace cableway::linux_ {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kRetryAfter{100};

class Dial : public std::enable_shared_from_this<Dial> {
 public:
  Dial(boost::asio::io_context& io, CircuitSetup setup, std::optional<SubKey> key, HopTransports* transports,
       DialDone done)
      : setup_(std::move(setup)),
        key_(std::move(key)),
        transports_(transports),
        done_(std::move(done)),
        socket_(io),
        deadline_(io),
        retry_(io) {}

  void start() {
    deadline_.expires_after(std::chrono::milliseconds(setup_.budget_ms));
    deadline_.async_wait([self = shared_from_this()](error_code stopped) {
      if (!stopped) self->finish(self->failed(absl::StatusCode::kDeadlineExceeded, self->waiting_for_));
    });
    // Before connecting: the other end waits for a set-up only so long, and a process's first queue pair takes a while.
    if (absl::Status status = offer_rdma(); !status.ok()) return finish(failed(status.code(), status.message()));
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
    key_ ? challenge() : send_setup();
  }

  void challenge() {
    waiting_for_ = "no challenge from there, as this end has a key";
    challenge_ = random_value<Challenge>();
    const FrameBytes frame = encode_challenge(challenge_);
    send({frame.begin(), frame.end()}, [this] { read_header([this](const Frame& said) { challenged(said); }); });
  }

  void challenged(const Frame& frame) {
    if (frame.kind == FrameKind::kFailed) return read_reason(frame);
    if (frame.kind != FrameKind::kChallenge) return finish_unexpected(frame);
    seal_.emplace(*key_, sixteen_bytes_of(frame), challenge_);
    send_setup();
  }

  void send_setup() {
    waiting_for_ = "no answer to the set-up";
    // What connecting has taken is gone: the next nodes must give up before this one does.
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_.expiry() - std::chrono::steady_clock::now());
    setup_.budget_ms = static_cast<std::uint32_t>(std::max<std::int64_t>(left.count(), 1));
    const std::vector<std::byte> body = encode_circuit_setup(setup_);
    const FrameBytes header = encode_frame(Frame{FrameKind::kSetup, static_cast<std::uint32_t>(body.size()), 0, 0, 0});
    std::vector<std::byte> frame(header.begin(), header.end());
    frame.insert(frame.end(), body.begin(), body.end());
    if (seal_) seal_->append_next(frame);
    send(std::move(frame), [this] { read_header([this](const Frame& answer) { answered(answer); }); });
  }

  absl::Status offer_rdma() {
    setup_.rdma.reset();
    if (transports_ == nullptr) return absl::OkStatus();
    absl::StatusOr<HopChoice> choice = transports_->offer(setup_);
    if (!choice.ok()) return choice.status();
    offered_ = *std::move(choice);
    if (offered_.rdma != nullptr) setup_.rdma = offered_.rdma->queue_pair->endpoint();
    return absl::OkStatus();
  }

  // `then` and `have` are members' calls, which this object outlives.
  void send(std::vector<std::byte> bytes, std::function<void()> then) {
    outgoing_ = std::move(bytes);
    boost::asio::async_write(socket_, boost::asio::buffer(outgoing_),
                             [self = shared_from_this(), then = std::move(then)](error_code error, std::size_t) {
                               if (self->finished_) return;
                               error ? self->finish(self->failed(absl::StatusCode::kUnavailable, error.message()))
                                     : then();
                             });
  }

  void read_header(std::function<void(const Frame&)> have) {
    boost::asio::async_read(
        socket_, boost::asio::buffer(header_),
        [self = shared_from_this(), have = std::move(have)](error_code error, std::size_t) {
          if (self->finished_) return;
          if (error) {
            return self->finish(self->failed(absl::StatusCode::kUnavailable,
                                             absl::StrCat("no answer to the set-up: ", error.message())));
          }
          absl::StatusOr<Frame> frame = decode_frame(self->header_);
          if (!frame.ok()) {
            return self->finish(self->failed(absl::StatusCode::kUnavailable, frame.status().message()));
          }
          have(*frame);
        });
  }

  void answered(const Frame& frame) {
    if (frame.kind == FrameKind::kFailed) return read_reason(frame);
    if (frame.kind != FrameKind::kSetupOk) return finish_unexpected(frame);
    body_.resize(frame.payload);
    boost::asio::async_read(socket_, boost::asio::buffer(body_),
                            [self = shared_from_this(), frame](error_code read, std::size_t) {
                              if (!self->finished_) self->have_answer(frame, read);
                            });
  }

  void have_answer(const Frame& frame, error_code error) {
    if (error) {
      return finish(failed(absl::StatusCode::kUnavailable, absl::StrCat("no answer to the set-up: ", error.message())));
    }
    if (!seal_) return accepted(frame);
    read_seal([this, frame](bool proven) {
      proven
          ? accepted(frame)
          : finish(failed(absl::StatusCode::kUnavailable, "accepted without a proof that it has this cluster's key"));
    });
  }

  void accepted(const Frame& frame) {
    const absl::StatusOr<SetupAnswer> answer = decode_setup_answer(frame, std::as_bytes(std::span(body_)));
    if (!answer.ok()) return finish(failed(absl::StatusCode::kUnavailable, answer.status().message()));
    if (answer->chunk_bytes != 0) setup_.chunk_bytes = std::min(setup_.chunk_bytes, answer->chunk_bytes);
    if (transports_ != nullptr) {
      absl::Status settled = transports_->settle(setup_, *answer, offered_);
      if (!settled.ok()) return finish(failed(settled.code(), settled.message()));
    }
    if (offered_.rdma != nullptr) setup_.chunk_bytes = std::min(setup_.chunk_bytes, RdmaChunkLink::kChunkBytes);
    finish_connected();
  }

  void finish_unexpected(const Frame& frame) {
    const bool wants_key = frame.kind == FrameKind::kChallenge && !key_;
    finish(failed(absl::StatusCode::kUnavailable,
                  wants_key ? absl::StrCat("it has a key, and this end has none: ", kSameKeyAdvice)
                            : absl::StrCat("answered by a frame ", to_text(frame.kind))));
  }

  void read_reason(const Frame& frame) {
    body_.resize(frame.payload);
    boost::asio::async_read(socket_, boost::asio::buffer(body_),
                            [self = shared_from_this()](error_code read, std::size_t) { self->have_reason(read); });
  }

  void have_reason(error_code error) {
    if (finished_) return;
    if (error) {
      body_ = absl::StrCat("refused, and closed before saying why: ", error.message());
      return refused(!key_);
    }
    if (!seal_) return refused(!key_);
    read_seal([this](bool proven) { refused(proven); });
  }

  // What comes from the hop that failed names it, so it is passed on as it is; what a stranger may have said is not.
  void refused(bool proven) {
    const std::string reason = printable(body_);
    finish(proven ? absl::UnavailableError(reason)
                  : failed(absl::StatusCode::kUnavailable,
                           absl::StrCat("refused without a proof that it has this cluster's key: ", reason)));
  }

  // Of the frame that is in header_ and body_.
  void read_seal(std::function<void(bool proven)> have) {
    boost::asio::async_read(socket_, boost::asio::buffer(seal_frame_),
                            [self = shared_from_this(), have = std::move(have)](error_code error, std::size_t) {
                              if (!self->finished_) have(!error && self->seal_is_right());
                            });
  }

  bool seal_is_right() {
    const absl::StatusOr<Frame> frame = decode_frame(seal_frame_);
    if (!frame.ok() || frame->kind != FrameKind::kSeal) return false;
    std::vector<std::byte> sealed(header_.begin(), header_.end());
    const auto body = std::as_bytes(std::span(body_));
    sealed.insert(sealed.end(), body.begin(), body.end());
    return seal_->next_is(sealed, sixteen_bytes_of(*frame));
  }

  void finish_connected() {
    error_code error;
    const int fd = socket_.release(error);
    if (error) return finish(failed(absl::StatusCode::kInternal, error.message()));
    finish(HopConnection{UniqueFd(fd), std::move(offered_.rdma), std::move(offered_.why), setup_.chunk_bytes});
  }

  void finish(absl::StatusOr<HopConnection> result) {
    if (std::exchange(finished_, true)) return;
    error_code ignored;
    deadline_.cancel();
    retry_.cancel();
    socket_.close(ignored);
    std::exchange(done_, nullptr)(std::move(result));
  }

  CircuitSetup setup_;
  const std::optional<SubKey> key_;
  HopTransports* const transports_;
  HopChoice offered_;  // with the set-up
  Challenge challenge_{};
  std::optional<CircuitSeal> seal_;  // once both ends have said their challenges
  DialDone done_;
  tcp::socket socket_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer retry_;
  std::string waiting_for_;
  std::vector<std::byte> outgoing_;
  FrameBytes header_{};
  FrameBytes seal_frame_{};
  std::string body_;  // of the answer, or the reason
  bool finished_ = false;
};

}  // namespace

void dial_circuit(boost::asio::io_context& io, CircuitSetup setup, std::optional<SubKey> key, HopTransports* transports,
                  DialDone done) {
  auto dial = std::make_shared<Dial>(io, std::move(setup), std::move(key), transports, std::move(done));
  boost::asio::post(io, [dial] { dial->start(); });
}

}  // namespace cableway::linux_
