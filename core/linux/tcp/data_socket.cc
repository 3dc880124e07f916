#include "core/linux/tcp/data_socket.h"

#include <fcntl.h>
#include <linux/sock_diag.h>
#include <linux/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/own_descriptors.h"

namespace cableway::host {
namespace {

constexpr std::string_view kCongestionControl = "reno";  // present in every kernel, permitted to every user

absl::Status set(int socket, int level, int option, int value, const char* name) {
  if (::setsockopt(socket, level, option, &value, sizeof value) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot set ", name, " on a data socket"));
}

// Describes one of a socket's two buffers.
struct Buffer {
  int option;
  int force_option;
  int lock;
  const char* name;
};
constexpr Buffer kSendBuffer = {SO_SNDBUF, SO_SNDBUFFORCE, SOCK_SNDBUF_LOCK, "SO_SNDBUF"};
constexpr Buffer kReceiveBuffer = {SO_RCVBUF, SO_RCVBUFFORCE, SOCK_RCVBUF_LOCK, "SO_RCVBUF"};

int option_of(int socket, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  ::getsockopt(socket, SOL_SOCKET, option, &value, &size);
  return value;
}

absl::Status set_buffer(int socket, const Buffer& buffer, int bytes) {
  // Root may exceed the system's limit; other users are limited by it. Either call fixes the size.
  if (::setsockopt(socket, SOL_SOCKET, buffer.force_option, &bytes, sizeof bytes) == 0) return absl::OkStatus();
  if (absl::Status status = set(socket, SOL_SOCKET, buffer.option, bytes, buffer.name); !status.ok()) return status;
  // The kernel doubles the requested size for its own overhead.
  if (option_of(socket, buffer.option) / 2 >= bytes) return absl::OkStatus();
  // Before Linux 5.14 the smaller size remains: slower, not wrong.
  const int locks = option_of(socket, SO_BUF_LOCK) & ~buffer.lock;
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_BUF_LOCK, &locks, sizeof locks));
  return absl::OkStatus();
}

}  // namespace

absl::Status set_send_buffer(int socket, int bytes) {
  return set_buffer(socket, kSendBuffer, bytes);
}

absl::Status set_receive_buffer(int socket, int bytes) {
  return set_buffer(socket, kReceiveBuffer, bytes);
}

std::uint64_t unsent_memory(int socket) {
  std::uint32_t counts[SK_MEMINFO_VARS] = {};
  socklen_t size = sizeof counts;
  if (::getsockopt(socket, SOL_SOCKET, SO_MEMINFO, counts, &size) != 0) return 0;
  return counts[SK_MEMINFO_WMEM_QUEUED];
}

absl::Status prepare_data_socket(int socket) {
  note_own_socket(socket);
  if (absl::Status status = set_send_buffer(socket, kSendBufferBytes); !status.ok()) return status;
  if (absl::Status status = set_receive_buffer(socket, kReceiveBufferBytes); !status.ok()) return status;
  struct Option {
    int level;
    int option;
    int value;
    const char* name;
  };
  const Option options[] = {
      {SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE"},
      {SOL_SOCKET, SO_OOBINLINE, 1, "SO_OOBINLINE"},  // otherwise urgent data ends a read early
      {IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY"},
      {IPPROTO_TCP, TCP_KEEPIDLE, kSilenceLimitSeconds / 2, "TCP_KEEPIDLE"},
      {IPPROTO_TCP, TCP_KEEPINTVL, 1, "TCP_KEEPINTVL"},
      {IPPROTO_TCP, TCP_KEEPCNT, kSilenceLimitSeconds / 2, "TCP_KEEPCNT"},
  };
  for (const Option& option : options) {
    if (absl::Status status = set(socket, option.level, option.option, option.value, option.name); !status.ok()) {
      return status;
    }
  }
  if (::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, kCongestionControl.data(), kCongestionControl.size()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot set TCP_CONGESTION to reno on a data socket");
  }
  if (::fcntl(socket, F_SETFD, FD_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot set close-on-exec");
  return absl::OkStatus();
}

bool connection_stalled(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  // Both count consecutive unanswered transmissions, at intervals that double from 200 ms.
  constexpr int kRetransmissions = 5;
  constexpr int kProbes = 5;
  return info.tcpi_retransmits >= kRetransmissions || info.tcpi_probes >= kProbes;
}

absl::Status check_silence(int socket) {
  if (!connection_stalled(socket)) return absl::OkStatus();
  return absl::UnavailableError("the cable, or the host behind it, is silent");
}

absl::StatusOr<boost::asio::ip::address> parse_address(const std::string& text) {
  boost::system::error_code error;
  boost::asio::ip::address address = boost::asio::ip::make_address(text, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not an IP address"));
  return address;
}

}  // namespace cableway::host
