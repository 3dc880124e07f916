#include "core/linux/control/udp_control_channel.h"

#include <algorithm>
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/discovery/full_size_hellos.h"
#include "core/linux/control/control_socket.h"
#include "core/ports/port_selector.h"

namespace cableway::host {
namespace {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;
using routing::PortAddress;
using std::chrono::milliseconds;

constexpr std::size_t kMaxPerTurn = 64;
constexpr milliseconds kFirstRetry{250};
constexpr milliseconds kMaxRetry{8000};

// Identifies a socket: of one of this host's addresses, or of a hello group.
struct Key {
  PortId port = 0;
  PortAddress address;
  bool is_group = false;
  friend auto operator<=>(const Key&, const Key&) = default;
};

struct Socket {
  Socket(boost::asio::io_context& io, Key its_key) : key(std::move(its_key)), descriptor(io) {}
  const Key key;
  stream_descriptor descriptor;
};

struct Port {
  PortFacts facts;
  PortControlCounters counters;
};

std::vector<Key> sockets_of(const PortFacts& port) {
  std::vector<Key> keys;
  for (const bool is_ipv6 : {false, true}) {
    bool has_family = false;
    for (const PortPrefix& prefix : port.addresses) {
      if (prefix.address.is_ipv6 != is_ipv6) continue;
      has_family = true;
      keys.push_back(Key{port.id, prefix.address, false});
    }
    if (has_family) keys.push_back(Key{port.id, hello_group(is_ipv6), true});
  }
  return keys;
}

// `address` has no scope.
bool has_address(const PortFacts& port, const PortAddress& address) {
  return std::any_of(port.addresses.begin(), port.addresses.end(), [&](const PortPrefix& prefix) {
    PortAddress own = prefix.address;
    own.scope.clear();
    return own == address;
  });
}

}  // namespace

struct UdpControlChannel::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& context, std::uint16_t port) : io(context), udp_port(port), retry(context) {}

  boost::asio::io_context& io;
  const std::uint16_t udp_port;
  boost::asio::steady_timer retry;
  milliseconds retry_delay = kFirstRetry;
  std::map<PortId, Port> ports;
  std::map<Key, std::shared_ptr<Socket>> sockets;
  std::map<Key, std::string> not_open;
  std::function<void(const ReceivedDatagram&)> receive;
  std::array<std::byte, kMostAtOnce * kMaxDatagramBytes> buffer;

  void update(std::vector<PortFacts> facts);
  void open_missing();
  absl::Status open(const Key& key);
  void arm_retry();
  void wait(const std::shared_ptr<Socket>& socket);
  void drain(const std::shared_ptr<Socket>& socket);
  void take(const Key& key, const Arrival& arrival, std::span<const std::byte> bytes);
  const Socket* source_for(const Port& port, const PortAddress& to) const;
  const Socket* open_socket(PortId port, const PortAddress& address) const;
  void send(Port& port, const PortAddress& to, std::span<const std::byte> bytes);
  void stop();
};

void UdpControlChannel::State::update(std::vector<PortFacts> facts) {
  std::map<PortId, Port> next;
  std::vector<Key> wanted;
  for (PortFacts& port : facts) {
    for (Key& key : sockets_of(port)) wanted.push_back(std::move(key));
    Port& entry = next[port.id];
    if (const auto known = ports.find(port.id); known != ports.end())
      entry.counters = std::move(known->second.counters);
    entry.counters.port = port.id;
    entry.counters.interface = port.interface;
    entry.facts = std::move(port);
  }
  ports = std::move(next);
  std::sort(wanted.begin(), wanted.end());
  const auto is_wanted = [&](const Key& key) { return std::binary_search(wanted.begin(), wanted.end(), key); };

  for (auto it = sockets.begin(); it != sockets.end();) {
    error_code ignored;
    if (!is_wanted(it->first)) it->second->descriptor.close(ignored);
    it = is_wanted(it->first) ? std::next(it) : sockets.erase(it);
  }
  not_open.clear();
  for (const Key& key : wanted) {
    if (!sockets.contains(key)) not_open.emplace(key, "");
  }
  retry_delay = kFirstRetry;
  open_missing();
}

void UdpControlChannel::State::open_missing() {
  for (auto it = not_open.begin(); it != not_open.end();) {
    if (absl::Status status = open(it->first); !status.ok()) {
      it->second = std::string(status.message());
      ++it;
    } else {
      it = not_open.erase(it);
    }
  }
  if (not_open.empty()) {
    retry.cancel();
  } else {
    arm_retry();
  }
}

absl::Status UdpControlChannel::State::open(const Key& key) {
  absl::StatusOr<UniqueFd> fd = key.is_group ? open_hello_socket(key.address.is_ipv6, key.port, udp_port)
                                             : open_control_socket(key.address, key.port, udp_port);
  if (!fd.ok()) return fd.status();
  const auto socket = std::make_shared<Socket>(io, key);
  error_code error;
  socket->descriptor.assign(fd->get(), error);
  if (error) {
    return absl::UnavailableError(absl::StrCat("cannot wait for ", to_text(key.address), ": ", error.message()));
  }
  static_cast<void>(fd->release());
  sockets.emplace(key, socket);
  wait(socket);
  return absl::OkStatus();
}

void UdpControlChannel::State::arm_retry() {
  retry.expires_after(retry_delay);
  retry_delay = std::min(2 * retry_delay, kMaxRetry);
  retry.async_wait([weak = weak_from_this()](error_code stopped) {
    const auto self = weak.lock();
    if (!stopped && self) self->open_missing();
  });
}

void UdpControlChannel::State::wait(const std::shared_ptr<Socket>& socket) {
  socket->descriptor.async_wait(stream_descriptor::wait_read, [weak = weak_from_this(), socket](error_code stopped) {
    const auto self = weak.lock();
    if (!stopped && self && socket->descriptor.is_open()) self->drain(socket);
  });
}

void UdpControlChannel::State::drain(const std::shared_ptr<Socket>& socket) {
  // `receive` may close this socket, or all of them.
  for (std::size_t taken = 0; taken < kMaxPerTurn && socket->descriptor.is_open();) {
    std::array<Arrival, kMostAtOnce> arrivals;
    const auto received = receive_datagrams(socket->descriptor.native_handle(), buffer, kMaxDatagramBytes, arrivals);
    const std::size_t* count = std::get_if<std::size_t>(&received);
    if (count == nullptr) break;
    for (std::size_t i = 0; i < *count && socket->descriptor.is_open(); ++i) {
      take(socket->key, arrivals[i], std::span(buffer).subspan(i * kMaxDatagramBytes, arrivals[i].bytes));
    }
    taken += *count;
    if (*count < kMostAtOnce) break;  // wait() ends at once if more has come since
  }
  if (socket->descriptor.is_open()) wait(socket);
}

void UdpControlChannel::State::take(const Key& key, const Arrival& arrival, std::span<const std::byte> bytes) {
  Port& port = ports.at(key.port);
  PortControlCounters& counters = port.counters;
  if (arrival.ttl != kControlTtl) {
    ++counters.ttl_refused;
  } else if (arrival.interface != key.port || arrival.from_port != udp_port) {
    ++counters.foreign;
  } else if (has_address(port.facts, arrival.from)) {
    ++counters.own;
  } else if (arrival.truncated) {
    ++counters.oversized;
  } else {
    ++counters.received;
    ReceivedDatagram datagram{key.port, arrival.from, bytes, arrival.waited};
    if (datagram.from.is_ipv6_link_local()) datagram.from.scope = port.facts.interface;
    // A copy, because the call may destroy the channel.
    const auto call = receive;
    if (call) call(datagram);
  }
}

const Socket* UdpControlChannel::State::open_socket(PortId port, const PortAddress& address) const {
  const auto found = sockets.find(Key{port, address, false});
  return found == sockets.end() ? nullptr : found->second.get();
}

// Prefers a socket whose address is of the same kind (link-local or not), then one of the same subnet.
const Socket* UdpControlChannel::State::source_for(const Port& port, const PortAddress& to) const {
  const bool wants_link_local = to.is_ipv6_link_local() || to == hello_group(true);
  const Socket* best = nullptr;
  int best_rank = 0;
  for (const PortPrefix& prefix : port.facts.addresses) {
    const Socket* socket = open_socket(port.facts.id, prefix.address);
    if (socket == nullptr || prefix.address.is_ipv6 != to.is_ipv6) continue;
    const bool same_kind = prefix.address.is_ipv6_link_local() == wants_link_local;
    PortPrefix subnet = prefix;
    subnet.address.scope.clear();
    const int rank = 1 + (same_kind ? 1 : 0) + (same_kind && contains(subnet, to) ? 1 : 0);
    if (rank <= best_rank) continue;
    best = socket;
    best_rank = rank;
  }
  return best;
}

void UdpControlChannel::State::send(Port& port, const PortAddress& to, std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxDatagramBytes) {
    ++port.counters.oversized;
    return;
  }
  const Socket* source = source_for(port, to);
  const bool whole = bytes.size() <= full_size_bytes(port.facts.mtu, to.is_ipv6);
  const int error = source == nullptr ? EADDRNOTAVAIL
                                      : send_datagram(const_cast<Socket*>(source)->descriptor.native_handle(),
                                                      port.facts.id, source->key.address, to, udp_port, bytes, whole);
  if (error == 0) {
    ++port.counters.sent;
    return;
  }
  ++port.counters.send_errors[error];
  port.counters.last_error = absl::StrCat("cannot send to ", to_text(to), ": ", std::generic_category().message(error));
}

void UdpControlChannel::State::stop() {
  receive = nullptr;
  retry.cancel();
  ports.clear();
  not_open.clear();
  for (const auto& [key, socket] : std::exchange(sockets, {})) {
    error_code ignored;
    socket->descriptor.close(ignored);
  }
}

UdpControlChannel::UdpControlChannel(boost::asio::io_context& io, std::uint16_t udp_port)
    : state_(std::make_shared<State>(io, udp_port)) {}

UdpControlChannel::~UdpControlChannel() {
  state_->stop();
}

void UdpControlChannel::update_ports(std::vector<PortFacts> ports) {
  state_->update(std::move(ports));
}

ControlCounters UdpControlChannel::counters() const {
  ControlCounters counters;
  for (const auto& [id, port] : state_->ports) {
    counters.ports.push_back(port.counters);
    for (const auto& [key, reason] : state_->not_open) {
      if (key.port == id) counters.ports.back().not_open.push_back(reason);
    }
  }
  return counters;
}

void UdpControlChannel::send_to_all(PortId port, std::span<const std::byte> bytes) {
  for (const bool is_ipv6 : {false, true}) send_to_family(port, is_ipv6, bytes);
}

void UdpControlChannel::send_to_family(PortId port, bool is_ipv6, std::span<const std::byte> bytes) {
  const auto found = state_->ports.find(port);
  if (found == state_->ports.end() || !has_family(found->second.facts, is_ipv6)) return;
  state_->send(found->second, hello_group(is_ipv6), bytes);
}

void UdpControlChannel::send(PortId port, const routing::PortAddress& to, std::span<const std::byte> bytes) {
  const auto found = state_->ports.find(port);
  if (found != state_->ports.end()) state_->send(found->second, to, bytes);
}

void UdpControlChannel::listen(std::function<void(const ReceivedDatagram&)> receive) {
  state_->receive = std::move(receive);
}

}  // namespace cableway::host
