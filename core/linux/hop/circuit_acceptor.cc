#include "core/linux/hop/circuit_acceptor.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/hop/asio_connection.h"
#include "core/linux/os/asio_clock.h"
#include "core/linux/os/own_descriptors.h"
#include "core/linux/os/random_value.h"
#include "core/linux/tcp/data_socket.h"

namespace cableway::host {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kPauseAfterError{100};

}  // namespace

struct CircuitAcceptor::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& context, Handler on_setup, OnRefused on_refusal, const Limits& bounds)
      : io(context),
        clock(context),
        handler(std::move(on_setup)),
        refused(std::move(on_refusal)),
        limits(bounds),
        arrivals(
            clock, bounds.without_setup,
            [this](const std::string& peer, Arrivals::Opening opening) {
              opening.ok() ? opened(*std::move(opening)) : refused(peer, opening.status());
            },
            [this](const IdleRate::From& from, std::size_t per_second) {
              if (flooded) flooded(from, per_second);
            }) {}

  boost::asio::io_context& io;
  AsioClock clock;
  Handler handler;
  OnRefused refused;
  OnProbe probed;
  PartyOf party_of;
  IdleRate::Report flooded;
  SetupKeys keys;
  const Limits limits;
  Arrivals arrivals;
  struct Listener {
    Listener(std::string at, tcp::acceptor open) : address(std::move(at)), acceptor(std::move(open)) {}

    const std::string address;
    tcp::acceptor acceptor;
    bool closed = false;
    std::unique_ptr<Timer> expiry;  // closes a former address; null while the address is in use

    void close() {
      closed = true;
      expiry.reset();
      error_code ignored;
      acceptor.close(ignored);
    }
  };
  std::map<std::string, std::shared_ptr<Listener>> listeners;  // by address
  // The TCP port of all listeners. Atomic, because other threads may read it while the first address is added.
  std::atomic<std::uint16_t> port = 0;

  absl::Status open_listeners(const std::vector<std::string>& addresses, std::uint16_t number);
  absl::Status open_listener(const std::string& address, std::uint16_t number);
  void accept(const std::shared_ptr<Listener>& listener);
  void pause_then_accept(const std::shared_ptr<Listener>& listener);
  void take(const Listener& listener, std::unique_ptr<SetupConnection> connection);
  void opened(std::variant<ArrivedSetup, ArrivedProbe> opening);
  void close_listener(const std::string& address) {
    const std::shared_ptr<Listener> listener = std::move(listeners.extract(address).mapped());
    listener->close();
    arrivals.close(address);
  }
  void close() {
    for (const auto& [address, listener] : listeners) {
      listener->close();
      arrivals.close(address);
    }
    listeners.clear();
  }
};

absl::Status CircuitAcceptor::State::open_listener(const std::string& text, std::uint16_t number) {
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
    const std::string what = absl::StrCat("cannot listen on ", text, " TCP port ", number, ": ", error.message());
    return error == boost::asio::error::address_in_use ? absl::AlreadyExistsError(what) : absl::UnavailableError(what);
  }
  const auto listener = std::make_shared<Listener>(text, std::move(acceptor));
  listeners[text] = listener;
  accept(listener);
  return absl::OkStatus();
}

// Opens every address that can be opened; the status is that of the first that cannot. 0: a free TCP port, the same for
// all.
absl::Status CircuitAcceptor::State::open_listeners(const std::vector<std::string>& addresses, std::uint16_t number) {
  absl::Status first;
  for (const std::string& address : addresses) {
    if (listeners.contains(address)) continue;
    const absl::Status status = open_listener(address, number != 0 ? number : port.load());
    if (first.ok()) first = status;
  }
  return first;
}

void CircuitAcceptor::State::accept(const std::shared_ptr<Listener>& listener) {
  listener->acceptor.async_accept([self = shared_from_this(), listener](error_code error, tcp::socket socket) {
    if (listener->closed) return;
    // Most likely out of descriptors: the connection stays in the backlog, and an immediate retry would spin.
    if (error) return self->pause_then_accept(listener);
    error_code ignored;
    note_own_socket(socket.native_handle());
    socket.native_non_blocking(true, ignored);
    // Accepted sockets do not inherit close-on-exec. An inherited descriptor would keep the circuit open after this
    // process has exited.
    static_cast<void>(::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC));
    self->take(*listener, make_setup_connection(std::move(socket)));
    self->accept(listener);
  });
}

void CircuitAcceptor::State::take(const Listener& listener, std::unique_ptr<SetupConnection> connection) {
  const ShareHolder party = party_of ? party_of(*connection) : ShareHolder{listener.address, ""};
  arrivals.take(std::move(connection), listener.address, party, keys, random_value<Challenge>());
}

void CircuitAcceptor::State::opened(std::variant<ArrivedSetup, ArrivedProbe> opening) {
  if (auto* setup = std::get_if<ArrivedSetup>(&opening)) return handler(std::move(*setup));
  ArrivedProbe& probe = std::get<ArrivedProbe>(opening);
  if (probed) return probed(std::move(probe));
  const auto reason = absl::UnimplementedError("this process serves no cable tests");
  refused(probe.connection->other_end(), reason);
  std::move(probe).refuse(reason.message());
}

void CircuitAcceptor::State::pause_then_accept(const std::shared_ptr<Listener>& listener) {
  auto pause = std::make_shared<boost::asio::steady_timer>(io, kPauseAfterError);
  pause->async_wait([self = shared_from_this(), listener, pause](error_code) {
    if (!listener->closed) self->accept(listener);
  });
}

absl::StatusOr<std::unique_ptr<CircuitAcceptor>> CircuitAcceptor::listen(boost::asio::io_context& io,
                                                                         const std::vector<std::string>& addresses,
                                                                         PortRange ports, const Handler& handler,
                                                                         const OnRefused& on_refused,
                                                                         const Limits& limits) {
  // A port that is free on the first address may be taken on another: a few tries find one that is free on all.
  constexpr int kTriesAtAnyPort = 16;
  const int tries = ports.low == 0 ? kTriesAtAnyPort : ports.high - ports.low + 1;
  absl::Status status;
  for (int attempt = 0; attempt < tries; ++attempt) {
    auto state = std::make_shared<State>(io, handler, on_refused, limits);
    const auto number = static_cast<std::uint16_t>(ports.low == 0 ? 0 : ports.low + attempt);
    status = state->open_listeners(addresses, number);
    if (state->port == 0) state->port = number;
    const bool some = addresses.empty() || !state->listeners.empty();
    if (some && !absl::IsAlreadyExists(status) && !absl::IsInvalidArgument(status)) {
      return std::unique_ptr<CircuitAcceptor>(new CircuitAcceptor(std::move(state)));
    }
    state->close();
    if (!absl::IsAlreadyExists(status)) break;
  }
  return status;
}

void CircuitAcceptor::seal_with(SetupKeys keys) {
  state_->keys = std::move(keys);
}

void CircuitAcceptor::share_by(PartyOf party_of) {
  state_->party_of = std::move(party_of);
}

void CircuitAcceptor::on_flood(IdleRate::Report on_flood) {
  state_->flooded = std::move(on_flood);
}

void CircuitAcceptor::on_probe(OnProbe on_probe) {
  state_->probed = std::move(on_probe);
}

absl::Status CircuitAcceptor::set_addresses(const std::vector<std::string>& addresses) {
  for (const auto& [address, listener] : state_->listeners) {
    const bool is_former = std::find(addresses.begin(), addresses.end(), address) == addresses.end();
    if (!is_former) {
      listener->expiry.reset();
    } else if (listener->expiry == nullptr) {
      listener->expiry = state_->clock.call_after(
          state_->limits.keep_former, [state = state_.get(), name = address] { state->close_listener(name); });
    }
  }
  return state_->open_listeners(addresses, state_->port);
}

CircuitAcceptor::CircuitAcceptor(std::shared_ptr<State> state) : state_(std::move(state)) {}

CircuitAcceptor::~CircuitAcceptor() {
  state_->close();
  state_->flooded = nullptr;  // pending operations may keep the state for a while
}

std::uint16_t CircuitAcceptor::port() const {
  return state_->port;
}

}  // namespace cableway::host
