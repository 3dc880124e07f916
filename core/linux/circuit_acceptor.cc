#include "core/linux/circuit_acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/frame.h"
#include "core/linux/data_socket.h"
#include "core/linux/lingering_close.h"
#include "core/linux/own_descriptors.h"
#include "core/linux/random_value.h"

namespace cableway::linux_ {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kPauseAfterError{100};

// The answer to a set-up is the first thing sent on its connection but for a challenge, so the kernel has room for it.
bool send_whole(int socket, const std::vector<std::byte>& bytes) {
  return ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::vector<std::byte> failed_frame(absl::string_view reason) {
  reason = reason.substr(0, kMaxFailureText);
  const FrameBytes header = encode_frame(Frame{FrameKind::kFailed, static_cast<std::uint32_t>(reason.size()), 0, 0, 0});
  std::vector<std::byte> bytes(header.begin(), header.end());
  const auto text = std::as_bytes(std::span(reason.data(), reason.size()));
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

}  // namespace

std::string PendingCircuit::own_address() const {
  tcp::endpoint local;
  auto size = static_cast<socklen_t>(local.capacity());
  if (::getsockname(socket_.get(), local.data(), &size) != 0) return setup_.this_hop().to_address;
  local.resize(size);
  return local.address().to_string();
}

absl::StatusOr<UniqueFd> PendingCircuit::accept(const SetupAnswer& answer) && {
  std::vector<std::byte> bytes = encode_setup_answer(answer);
  if (seal_) seal_->append_next(bytes);
  if (!send_whole(socket_.get(), bytes)) {
    return absl::UnavailableError("the peer went away during the set-up");
  }
  return std::move(socket_);
}

void PendingCircuit::refuse(const absl::Status& reason) && {
  refuse_connection(*io_, std::move(socket_), reason.message(), std::move(seal_));
}

void refuse_connection(boost::asio::io_context& io, UniqueFd socket, absl::string_view reason,
                       std::optional<CircuitSeal> seal) {
  // Whether it arrives or not, the connection ends here; the peer then has the end of it for a reason.
  std::vector<std::byte> answer = failed_frame(reason);
  if (seal) seal->append_next(answer);
  static_cast<void>(send_whole(socket.get(), answer));
  close_lingering(io, std::move(socket));
}

namespace {

// What a connection begins with: a set-up, or a probe.
struct Opening {
  std::variant<CircuitSetup, Frame> what;
  std::optional<CircuitSeal> seal;  // of the answer
};

// Reads one connection's set-up, and its seal where there is a key. Nothing in it counts before the seal is right.
class Reception : public std::enable_shared_from_this<Reception> {
 public:
  using Done = std::function<void(absl::StatusOr<Opening>, tcp::socket)>;

  Reception(boost::asio::io_context& io, tcp::socket socket, std::optional<SubKey> key)
      : socket_(std::move(socket)), limit_(io), key_(std::move(key)) {}

  // Ends it without a word: nobody wants the connection any more.
  void abandon() {
    if (std::exchange(finished_, true)) return;
    limit_.cancel();
    done_ = nullptr;
    error_code ignored;
    socket_.close(ignored);
  }
  void start(std::chrono::milliseconds limit, Done done) {
    done_ = std::move(done);
    limit_.expires_after(limit);
    limit_.async_wait([self = shared_from_this(), limit](error_code stopped) {
      if (stopped) return;
      self->finish(absl::DeadlineExceededError(absl::StrCat("no complete set-up within ", limit.count(), " ms")));
    });
    if (key_) challenge();
    read_header();
  }

 private:
  // The first thing sent on the connection, so the kernel has room for it. Where it cannot go, nothing comes either.
  void challenge() {
    challenge_ = random_value<Challenge>();
    const FrameBytes frame = encode_challenge(challenge_);
    static_cast<void>(send_whole(socket_.native_handle(), {frame.begin(), frame.end()}));
  }

  void read_header() {
    boost::asio::async_read(socket_, boost::asio::buffer(header_),
                            [self = shared_from_this()](error_code error, std::size_t) { self->have_header(error); });
  }

  void have_header(error_code error) {
    if (finished_) return;
    if (error) return finish(absl::UnavailableError(absl::StrCat("closed before its set-up: ", error.message())));
    absl::StatusOr<Frame> frame = decode_frame(header_);
    if (!frame.ok()) return finish(frame.status());
    if (frame->kind == FrameKind::kChallenge && !seal_) return challenged(*frame);
    if (frame->kind != FrameKind::kProbe && frame->kind != FrameKind::kSetup) {
      return finish(absl::InvalidArgumentError(absl::StrCat("began with a frame ", to_text(frame->kind))));
    }
    if (key_ && !seal_) {
      return finish(absl::PermissionDeniedError(
          absl::StrCat("a ", to_text(frame->kind), " without a seal, and this end has a key: ", kSameKeyAdvice)));
    }
    opening_ = *frame;
    body_.resize(frame->payload);
    boost::asio::async_read(socket_, boost::asio::buffer(body_),
                            [self = shared_from_this()](error_code read, std::size_t) { self->have_body(read); });
  }

  void challenged(const Frame& frame) {
    if (!key_) {
      return finish(
          absl::PermissionDeniedError(absl::StrCat("the sender has a key, and this end has none: ", kSameKeyAdvice)));
    }
    seal_.emplace(*key_, challenge_, sixteen_bytes_of(frame));
    read_header();
  }

  void have_body(error_code error) {
    if (finished_) return;
    if (error) return finish(absl::UnavailableError(absl::StrCat("closed within its set-up: ", error.message())));
    if (!seal_) return finish_opened();
    boost::asio::async_read(socket_, boost::asio::buffer(seal_frame_),
                            [self = shared_from_this()](error_code read, std::size_t) { self->have_seal(read); });
  }

  void have_seal(error_code error) {
    if (finished_) return;
    if (error) return finish(absl::UnavailableError(absl::StrCat("closed before its seal: ", error.message())));
    absl::StatusOr<Frame> frame = decode_frame(seal_frame_);
    if (!frame.ok()) return finish(frame.status());
    if (frame->kind != FrameKind::kSeal) {
      return finish(absl::InvalidArgumentError(absl::StrCat("a frame ", to_text(frame->kind), " in place of a seal")));
    }
    std::vector<std::byte> sealed(header_.begin(), header_.end());
    sealed.insert(sealed.end(), body_.begin(), body_.end());
    if (seal_->next_is(sealed, sixteen_bytes_of(*frame))) return finish_opened();
    finish(absl::PermissionDeniedError(
        absl::StrCat("the seal of the ", to_text(opening_.kind),
                     " is wrong; it is changed, copied, or of another key: ", kSameKeyAdvice)));
  }

  void finish_opened() {
    if (opening_.kind == FrameKind::kProbe) return finish(Opening{opening_, std::move(seal_)});
    absl::StatusOr<CircuitSetup> setup = decode_circuit_setup(body_);
    if (!setup.ok()) return finish(setup.status());
    finish(Opening{*std::move(setup), std::move(seal_)});
  }

  void finish(absl::StatusOr<Opening> opening) {
    if (std::exchange(finished_, true)) return;
    limit_.cancel();
    std::exchange(done_, nullptr)(std::move(opening), std::move(socket_));
  }

  tcp::socket socket_;
  boost::asio::steady_timer limit_;
  const std::optional<SubKey> key_;
  Challenge challenge_{};
  std::optional<CircuitSeal> seal_;  // once both ends have said their challenges
  Done done_;
  FrameBytes header_{};
  Frame opening_;
  std::vector<std::byte> body_;
  FrameBytes seal_frame_{};
  bool finished_ = false;
};

}  // namespace

struct CircuitAcceptor::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& context, Handler on_setup, OnRefused on_refusal, const Limits& bounds)
      : io(context), handler(std::move(on_setup)), refused(std::move(on_refusal)), limits(bounds) {}

  boost::asio::io_context& io;
  Handler handler;
  OnRefused refused;
  OnProbe probed;
  std::optional<SubKey> key;
  const Limits limits;
  // One address, and the connections to it whose set-up has not come yet.
  struct Door {
    explicit Door(tcp::acceptor open) : acceptor(std::move(open)) {}

    tcp::acceptor acceptor;
    std::set<std::shared_ptr<Reception>> receptions;
    bool closed = false;

    void close() {
      closed = true;
      error_code ignored;
      acceptor.close(ignored);
      for (const auto& reception : std::exchange(receptions, {})) reception->abandon();
    }
  };
  std::map<std::string, std::shared_ptr<Door>> doors;  // by address
  // Of all doors. Others may ask for it while the first address comes.
  std::atomic<std::uint16_t> port = 0;

  absl::Status open_doors(const std::vector<std::string>& addresses, std::uint16_t number);
  absl::Status open_door(const std::string& address, std::uint16_t number);
  void accept(const std::shared_ptr<Door>& door);
  void pause_then_accept(const std::shared_ptr<Door>& door);
  void receive(const std::shared_ptr<Door>& door, tcp::socket socket);
  void opened(absl::StatusOr<Opening> opening, tcp::socket socket);
  void received(CircuitSetup setup, std::optional<CircuitSeal> seal, tcp::socket socket);
  void refuse(const absl::Status& reason, std::optional<CircuitSeal> seal, tcp::socket socket);
  void close() {
    for (const auto& [address, door] : doors) door->close();
    doors.clear();
  }
};

namespace {

std::string describe_peer(const tcp::socket& socket) {
  error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  return error ? "a peer that is gone" : absl::StrCat(peer.address().to_string(), " port ", peer.port());
}

// Whether `text` is this address. Scopes are names of interfaces and differ on the two ends.
bool names(const std::string& text, const boost::asio::ip::address& address) {
  const absl::StatusOr<boost::asio::ip::address> named = parse_address(text);
  if (!named.ok()) return false;
  if (!named->is_v6() || !address.is_v6()) return *named == address;
  return named->to_v6().to_bytes() == address.to_v6().to_bytes();
}

// A set-up must come over the cable it names: from the one address of that cable, to the other.
absl::Status check_cable(const CircuitSetup& setup, const tcp::socket& socket) {
  error_code error;
  const boost::asio::ip::address remote = socket.remote_endpoint(error).address();
  if (error) return absl::UnavailableError(error.message());
  const boost::asio::ip::address local = socket.local_endpoint(error).address();
  if (error) return absl::UnavailableError(error.message());
  const Hop& hop = setup.this_hop();
  if (names(hop.from_address, remote) && names(hop.to_address, local)) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("a set-up for cable ", hop.cable, " from ", hop.from_address, " to ",
                                                  hop.to_address, " came from ", remote.to_string(), " to ",
                                                  local.to_string()));
}

}  // namespace

absl::Status CircuitAcceptor::State::open_door(const std::string& text, std::uint16_t number) {
  const absl::StatusOr<boost::asio::ip::address> address = parse_address(text);
  if (!address.ok()) return address.status();
  tcp::acceptor acceptor(io);
  const tcp::endpoint endpoint(*address, number);
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    if (absl::Status status = prepare_data_socket(acceptor.native_handle()); !status.ok()) return status;
    acceptor.set_option(boost::asio::socket_base::reuse_address(true), error);
  }
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (!error && port == 0) port = acceptor.local_endpoint(error).port();
  if (error) {
    const std::string what = absl::StrCat("cannot listen on ", text, " port ", number, ": ", error.message());
    return error == boost::asio::error::address_in_use ? absl::AlreadyExistsError(what) : absl::UnavailableError(what);
  }
  const auto door = std::make_shared<Door>(std::move(acceptor));
  doors[text] = door;
  accept(door);
  return absl::OkStatus();
}

// Every address that can be; the status is that of the first that cannot. 0: a free port, the same for all.
absl::Status CircuitAcceptor::State::open_doors(const std::vector<std::string>& addresses, std::uint16_t number) {
  absl::Status first;
  for (const std::string& address : addresses) {
    if (doors.contains(address)) continue;
    const absl::Status status = open_door(address, number != 0 ? number : port.load());
    if (first.ok()) first = status;
  }
  return first;
}

void CircuitAcceptor::State::accept(const std::shared_ptr<Door>& door) {
  door->acceptor.async_accept([self = shared_from_this(), door](error_code error, tcp::socket socket) {
    if (door->closed) return;
    // Out of descriptors, most likely: the connection stays in the backlog, and trying at once would spin.
    if (error) return self->pause_then_accept(door);
    if (door->receptions.size() < self->limits.without_setup) {
      self->receive(door, std::move(socket));
    } else {
      const auto reason = absl::ResourceExhaustedError("too many connections without a set-up over this cable");
      self->refused(describe_peer(socket), reason);
      static_cast<void>(send_whole(socket.native_handle(), failed_frame(reason.message())));
    }
    self->accept(door);
  });
}

void CircuitAcceptor::State::receive(const std::shared_ptr<Door>& door, tcp::socket socket) {
  error_code ignored;
  note_own_socket(socket.native_handle());
  socket.native_non_blocking(true, ignored);
  // accept(2) does not pass close-on-exec on. A child that kept a circuit open would hide its owner's death.
  static_cast<void>(::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC));
  auto reception = std::make_shared<Reception>(io, std::move(socket), key);
  door->receptions.insert(reception);
  reception->start(limits.setup, [self = shared_from_this(), door, raw = std::weak_ptr(reception)](
                                     absl::StatusOr<Opening> opening, tcp::socket connected) {
    door->receptions.erase(raw.lock());
    self->opened(std::move(opening), std::move(connected));
  });
}

void CircuitAcceptor::State::opened(absl::StatusOr<Opening> opening, tcp::socket socket) {
  if (!opening.ok()) return refuse(opening.status(), std::nullopt, std::move(socket));
  if (auto* setup = std::get_if<CircuitSetup>(&opening->what)) {
    return received(std::move(*setup), std::move(opening->seal), std::move(socket));
  }
  if (!probed) {
    return refuse(absl::UnimplementedError("no cable is tested here"), std::move(opening->seal), std::move(socket));
  }
  error_code released;
  probed(std::get<Frame>(opening->what), UniqueFd(socket.release(released)), std::move(opening->seal));
}

void CircuitAcceptor::State::received(CircuitSetup setup, std::optional<CircuitSeal> seal, tcp::socket socket) {
  if (absl::Status status = check_cable(setup, socket); !status.ok()) {
    return refuse(status, std::move(seal), std::move(socket));
  }
  error_code released;
  handler(PendingCircuit(io, UniqueFd(socket.release(released)), std::move(setup), std::move(seal)));
}

void CircuitAcceptor::State::refuse(const absl::Status& reason, std::optional<CircuitSeal> seal, tcp::socket socket) {
  refused(describe_peer(socket), reason);
  error_code released;
  refuse_connection(io, UniqueFd(socket.release(released)), reason.message(), std::move(seal));
}

void CircuitAcceptor::State::pause_then_accept(const std::shared_ptr<Door>& door) {
  auto pause = std::make_shared<boost::asio::steady_timer>(io, kPauseAfterError);
  pause->async_wait([self = shared_from_this(), door, pause](error_code) {
    if (!door->closed) self->accept(door);
  });
}

absl::StatusOr<std::unique_ptr<CircuitAcceptor>> CircuitAcceptor::listen(boost::asio::io_context& io,
                                                                         const std::vector<std::string>& addresses,
                                                                         PortRange ports, const Handler& handler,
                                                                         const OnRefused& on_refused,
                                                                         const Limits& limits) {
  // A number that is free on the first address may be taken on another: a few tries find one that is free on all.
  constexpr int kTriesAtAnyPort = 16;
  const int tries = ports.low == 0 ? kTriesAtAnyPort : ports.high - ports.low + 1;
  absl::Status status;
  for (int attempt = 0; attempt < tries; ++attempt) {
    auto state = std::make_shared<State>(io, handler, on_refused, limits);
    const auto number = static_cast<std::uint16_t>(ports.low == 0 ? 0 : ports.low + attempt);
    status = state->open_doors(addresses, number);
    if (state->port == 0) state->port = number;
    const bool some = addresses.empty() || !state->doors.empty();
    if (some && !absl::IsAlreadyExists(status) && !absl::IsInvalidArgument(status)) {
      return std::unique_ptr<CircuitAcceptor>(new CircuitAcceptor(std::move(state)));
    }
    state->close();
    if (!absl::IsAlreadyExists(status)) break;
  }
  return status;
}

void CircuitAcceptor::seal_with(std::optional<SubKey> key) {
  state_->key = std::move(key);
}

void CircuitAcceptor::on_probe(OnProbe on_probe) {
  state_->probed = std::move(on_probe);
}

absl::Status CircuitAcceptor::set_addresses(const std::vector<std::string>& addresses) {
  std::erase_if(state_->doors, [&](const auto& each) {
    if (std::find(addresses.begin(), addresses.end(), each.first) != addresses.end()) return false;
    each.second->close();
    return true;
  });
  return state_->open_doors(addresses, state_->port);
}

CircuitAcceptor::CircuitAcceptor(std::shared_ptr<State> state) : state_(std::move(state)) {}

CircuitAcceptor::~CircuitAcceptor() {
  state_->close();
}

std::uint16_t CircuitAcceptor::port() const {
  return state_->port;
}

}  // namespace cableway::linux_
