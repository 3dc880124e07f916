#include "core/linux/control/control_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/control/socket_address.h"
#include "core/linux/os/uninterrupted.h"

namespace cableway::host {
namespace {

using routing::PortAddress;

// Holds a burst of datagrams of the largest size while the thread is busy. The kernel caps it at net.core.rmem_max.
constexpr int kControlReceiveBytes = 1 << 20;
constexpr std::chrono::minutes kLongestTimeInSocket{10};
constexpr int kInteractive = 6;  // TC_PRIO_INTERACTIVE, the first band of pfifo_fast; higher ones need a capability
constexpr int kNetworkControl = 0xc0;  // the class selector CS6 that routing protocols use (RFC 4594, section 3.1)

bool set_number(int socket, int level, int option, int value) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0;
}

// Both ignore ICMP messages about a smaller MTU. PROBE sets don't-fragment, and the kernel refuses datagrams larger
// than the interface's MTU; with OMIT it fragments them.
bool set_whole(int socket, bool is_ipv6, bool whole) {
  return is_ipv6 ? set_number(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, whole ? IPV6_PMTUDISC_PROBE : IPV6_PMTUDISC_OMIT)
                 : set_number(socket, IPPROTO_IP, IP_MTU_DISCOVER, whole ? IP_PMTUDISC_PROBE : IP_PMTUDISC_OMIT);
}

bool set_ipv4_options(int socket) {
  return set_number(socket, IPPROTO_IP, IP_PKTINFO, 1) && set_number(socket, IPPROTO_IP, IP_RECVTTL, 1) &&
         set_number(socket, IPPROTO_IP, IP_TTL, kControlTtl) &&
         set_number(socket, IPPROTO_IP, IP_MULTICAST_TTL, kControlTtl) &&
         set_number(socket, IPPROTO_IP, IP_MULTICAST_LOOP, 0) && set_number(socket, IPPROTO_IP, IP_MULTICAST_ALL, 0);
}

bool set_ipv6_options(int socket) {
  return set_number(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1) && set_number(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) &&
         set_number(socket, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1) &&
         set_number(socket, IPPROTO_IPV6, IPV6_UNICAST_HOPS, kControlTtl) &&
         set_number(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, kControlTtl) &&
         set_number(socket, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0);
}

absl::Status failed(absl::string_view what, const PortAddress& address, std::uint16_t udp_port, int error) {
  const std::string text = absl::StrCat("cannot ", what, " ", to_text(address), " UDP port ", udp_port, ": ",
                                        std::generic_category().message(error));
  return error == EADDRINUSE ? absl::AlreadyExistsError(text) : absl::UnavailableError(text);
}

absl::StatusOr<UniqueFd> open_socket(const PortAddress& address, std::uint16_t udp_port) {
  UniqueFd socket(::socket(address.is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid() || !(address.is_ipv6 ? set_ipv6_options(socket.get()) : set_ipv4_options(socket.get()))) {
    return failed("create a socket for", address, udp_port, errno);
  }
  set_number(socket.get(), SOL_SOCKET, SO_RCVBUF, kControlReceiveBytes);
  set_number(socket.get(), SOL_SOCKET, SO_TIMESTAMPNS, 1);  // without it, waited is 0
  // Control datagrams go ahead of bulk data in the host's queues and in switches, so that a busy cable is neither
  // considered lost nor measured as slow. SO_PRIORITY is set last, since IP_TOS also sets a priority.
  const bool is_ipv6 = address.is_ipv6;
  set_number(socket.get(), is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, is_ipv6 ? IPV6_TCLASS : IP_TOS, kNetworkControl);
  set_number(socket.get(), SOL_SOCKET, SO_PRIORITY, kInteractive);
  return socket;
}

bool join(int socket, const PortAddress& group, PortId interface) {
  if (group.is_ipv6) {
    ipv6_mreq request{};
    std::memcpy(&request.ipv6mr_multiaddr, group.bytes.data(), sizeof request.ipv6mr_multiaddr);
    request.ipv6mr_interface = interface;
    return ::setsockopt(socket, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request) == 0;
  }
  ip_mreqn request{};
  std::memcpy(&request.imr_multiaddr, group.bytes.data(), sizeof request.imr_multiaddr);
  request.imr_ifindex = static_cast<int>(interface);
  return ::setsockopt(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) == 0;
}

template <typename Value>
void put_control(msghdr& message, int level, int type, const Value& value) {
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = level;
  header->cmsg_type = type;
  header->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(header), &value, sizeof value);
  message.msg_controllen = CMSG_SPACE(sizeof value);
}

template <typename Value>
Value control_value(const cmsghdr* header) {
  Value value{};
  std::memcpy(&value, CMSG_DATA(header), sizeof value);
  return value;
}

// The kernel timestamps arrivals with the wall clock, which may be set in between, so impossible times count as 0.
Duration time_since(const timespec& stamp) {
  const auto stamped = std::chrono::seconds(stamp.tv_sec) + std::chrono::nanoseconds(stamp.tv_nsec);
  const Duration waited = std::chrono::system_clock::now().time_since_epoch() - stamped;
  return waited < Duration(0) || waited > kLongestTimeInSocket ? Duration(0) : waited;
}

void read_control(const cmsghdr* header, Arrival& arrival) {
  if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
    arrival.interface = static_cast<PortId>(control_value<in_pktinfo>(header).ipi_ifindex);
  } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
    arrival.interface = static_cast<PortId>(control_value<in6_pktinfo>(header).ipi6_ifindex);
  } else if ((header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_TTL) ||
             (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_HOPLIMIT)) {
    arrival.ttl = control_value<int>(header);
  } else if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_TIMESTAMPNS) {
    arrival.waited = time_since(control_value<timespec>(header));
  }
}

void read_source(const sockaddr_storage& storage, Arrival& arrival) {
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof v6);
    arrival.from.is_ipv6 = true;
    std::memcpy(arrival.from.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    arrival.from_port = ntohs(v6.sin6_port);
  } else {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    std::memcpy(arrival.from.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
    arrival.from_port = ntohs(v4.sin_port);
  }
}

constexpr std::size_t kControlBytes = 256;

// Memory for the source and the control messages of one received datagram.
class ReceiveSlot {
 public:
  // The message points into this slot.
  msghdr message_into(std::span<std::byte> buffer) {
    data_ = {buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_name = &source_;
    message.msg_namelen = sizeof source_;
    message.msg_iov = &data_;
    message.msg_iovlen = 1;
    message.msg_control = control_.data();
    message.msg_controllen = control_.size();
    return message;
  }
  Arrival arrival(msghdr& message, std::size_t bytes) const {
    Arrival arrival;
    arrival.bytes = bytes;
    arrival.truncated = (message.msg_flags & MSG_TRUNC) != 0;
    read_source(source_, arrival);
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
      read_control(header, arrival);
    }
    return arrival;
  }

 private:
  sockaddr_storage source_{};
  iovec data_{};
  alignas(cmsghdr) std::array<char, kControlBytes> control_{};
};

// The maximum for one call, so that a flood of ICMP messages does not hold up the thread.
constexpr int kMostForgotten = 256;

}  // namespace

PortAddress hello_group(bool is_ipv6) {
  if (!is_ipv6) return PortAddress{.is_ipv6 = false, .bytes = {224, 0, 0, 177}, .scope = {}};
  return PortAddress{
      .is_ipv6 = true, .bytes = {0xff, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xcb, 0x74, 0x71}, .scope = {}};
}

absl::StatusOr<UniqueFd> open_control_socket(const PortAddress& own, PortId interface, std::uint16_t udp_port) {
  absl::StatusOr<UniqueFd> socket = open_socket(own, udp_port);
  if (!socket.ok()) return socket.status();
  const SocketAddress address = socket_address(own, interface, udp_port);
  if (::bind(socket->get(), address.get(), address.size) != 0) return failed("bind", own, udp_port, errno);
  return socket;
}

absl::StatusOr<UniqueFd> open_hello_socket(bool is_ipv6, PortId interface, std::uint16_t udp_port) {
  const PortAddress group = hello_group(is_ipv6);
  absl::StatusOr<UniqueFd> socket = open_socket(group, udp_port);
  if (!socket.ok()) return socket.status();
  const SocketAddress address = socket_address(group, interface, udp_port);
  set_number(socket->get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(socket->get(), address.get(), address.size) != 0) return failed("bind", group, udp_port, errno);
  if (!join(socket->get(), group, interface)) return failed("join group", group, udp_port, errno);
  return socket;
}

absl::StatusOr<UniqueFd> open_connected_socket(const PortAddress& own, const PortAddress& other, PortId interface,
                                               std::uint16_t udp_port) {
  absl::StatusOr<UniqueFd> socket = open_socket(own, udp_port);
  if (!socket.ok()) return socket.status();
  // SO_REUSEPORT, unlike SO_REUSEADDR, lets no other user's socket in.
  set_number(socket->get(), SOL_SOCKET, SO_REUSEPORT, 1);
  // Without this option the kernel reports datagrams that its queue has dropped as sent.
  set_number(socket->get(), own.is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, own.is_ipv6 ? IPV6_RECVERR : IP_RECVERR, 1);
  // The kernel caches the route of a socket that is bound to its interface and connected.
  if (!set_number(socket->get(), SOL_SOCKET, SO_BINDTOIFINDEX, static_cast<int>(interface)) ||
      !set_whole(socket->get(), own.is_ipv6, true)) {
    return failed("bind to its interface", own, udp_port, errno);
  }
  const SocketAddress here = socket_address(own, interface, udp_port);
  if (::bind(socket->get(), here.get(), here.size) != 0) return failed("bind", own, udp_port, errno);
  const SocketAddress there = socket_address(other, interface, udp_port);
  if (::connect(socket->get(), there.get(), there.size) != 0) return failed("connect to", other, udp_port, errno);
  return socket;
}

int send_datagram(int socket, PortId interface, const PortAddress& own, const PortAddress& to, std::uint16_t udp_port,
                  std::span<const std::byte> bytes, bool whole) {
  if (!set_whole(socket, to.is_ipv6, whole)) return errno;
  SocketAddress destination = socket_address(to, interface, udp_port);
  iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, kControlBytes> control{};
  msghdr message{};
  message.msg_name = &destination.storage;
  message.msg_namelen = destination.size;
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (to.is_ipv6) {
    in6_pktinfo through{};
    through.ipi6_ifindex = interface;
    std::memcpy(&through.ipi6_addr, own.bytes.data(), sizeof through.ipi6_addr);
    put_control(message, IPPROTO_IPV6, IPV6_PKTINFO, through);
  } else {
    in_pktinfo through{};
    through.ipi_ifindex = static_cast<int>(interface);
    std::memcpy(&through.ipi_spec_dst, own.bytes.data(), sizeof through.ipi_spec_dst);
    put_control(message, IPPROTO_IP, IP_PKTINFO, through);
  }
  const ssize_t sent = uninterrupted([&] { return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL); });
  return sent < 0 ? errno : 0;
}

int send_connected(int socket, std::span<const std::byte> bytes) {
  const ssize_t sent =
      uninterrupted([&] { return ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
  return sent < 0 ? errno : 0;
}

void forget_refused(int socket) {
  msghdr nothing{};
  const auto take_one = [&] { return ::recvmsg(socket, &nothing, MSG_ERRQUEUE | MSG_DONTWAIT); };
  for (int i = 0; i < kMostForgotten && uninterrupted(take_one) >= 0; ++i) continue;
}

std::variant<std::size_t, int> receive_datagrams(int socket, std::span<std::byte> buffer, std::size_t stride,
                                                 std::span<Arrival, kMostAtOnce> arrivals) {
  std::array<ReceiveSlot, kMostAtOnce> slots;
  std::array<mmsghdr, kMostAtOnce> messages{};
  for (std::size_t i = 0; i < kMostAtOnce; ++i) {
    messages[i].msg_hdr = slots[i].message_into(buffer.subspan(i * stride, stride));
  }
  const int got =
      uninterrupted([&] { return ::recvmmsg(socket, messages.data(), kMostAtOnce, MSG_DONTWAIT, nullptr); });
  if (got < 0) return errno;
  const auto count = static_cast<std::size_t>(got);
  for (std::size_t i = 0; i < count; ++i) arrivals[i] = slots[i].arrival(messages[i].msg_hdr, messages[i].msg_len);
  return count;
}

}  // namespace cableway::host
