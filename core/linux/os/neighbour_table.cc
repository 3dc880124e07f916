#include "core/linux/os/neighbour_table.h"

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {
namespace {

constexpr timeval kKernelAnswerWait{.tv_sec = 1, .tv_usec = 0};
// States in which the kernel uses an entry's Ethernet address.
constexpr unsigned kUsed = NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY;

absl::Status cannot_read(int error) {
  return absl::UnavailableError(
      absl::StrCat("the kernel's neighbour table cannot be read: ", std::generic_category().message(error)));
}

absl::Status cannot_set(int error) {
  const std::string words =
      absl::StrCat("the kernel's neighbour table cannot be changed: ", std::generic_category().message(error));
  const bool is_refused = error == EPERM || error == EACCES;
  return is_refused ? absl::PermissionDeniedError(words) : absl::UnavailableError(words);
}

// A message about one entry, followed by at most two attributes.
struct alignas(NLMSG_ALIGNTO) EntryMessage {
  nlmsghdr header{};
  ndmsg entry{};
  std::array<std::byte, 64> attributes{};

  EntryMessage(std::uint16_t type, unsigned flags, std::uint32_t interface, const routing::PortAddress& address) {
    header.nlmsg_len = NLMSG_LENGTH(sizeof entry);
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    entry.ndm_family = address.is_ipv6 ? AF_INET6 : AF_INET;
    entry.ndm_ifindex = static_cast<int>(interface);
    append(NDA_DST, std::as_bytes(std::span(address.bytes)).first(address.is_ipv6 ? 16 : 4));
  }

  void append(std::uint16_t type, std::span<const std::byte> value) {
    const rtattr attribute{static_cast<std::uint16_t>(RTA_LENGTH(value.size())), type};
    std::byte* const place = attributes.data() + (header.nlmsg_len - NLMSG_LENGTH(sizeof entry));
    std::memcpy(place, &attribute, sizeof attribute);
    std::memcpy(place + RTA_LENGTH(0), value.data(), value.size());
    header.nlmsg_len += static_cast<std::uint32_t>(RTA_ALIGN(attribute.rta_len));
  }
};
static_assert(offsetof(EntryMessage, entry) == NLMSG_HDRLEN);
static_assert(offsetof(EntryMessage, attributes) == NLMSG_LENGTH(sizeof(ndmsg)));

struct KernelAnswer {
  alignas(nlmsghdr) std::array<std::byte, 4096> bytes;
  std::size_t size = 0;

  // The only message; null if it is incomplete.
  const nlmsghdr* message() const {
    const auto* const header = reinterpret_cast<const nlmsghdr*>(bytes.data());
    return size >= sizeof *header && header->nlmsg_len >= sizeof *header && header->nlmsg_len <= size ? header
                                                                                                      : nullptr;
  }
};

// Returns 0, or an errno if there is no answer.
int exchange(const EntryMessage& request, KernelAnswer& answer) {
  const UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.valid()) return errno;
  const sockaddr_nl kernel{.nl_family = AF_NETLINK, .nl_pad = 0, .nl_pid = 0, .nl_groups = 0};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kKernelAnswerWait, sizeof kKernelAnswerWait) != 0 ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) != 0 ||
      ::send(socket.get(), &request, request.header.nlmsg_len, 0) < 0) {
    return errno;
  }
  const ssize_t got = uninterrupted([&] { return ::recv(socket.get(), answer.bytes.data(), answer.bytes.size(), 0); });
  if (got < 0) return errno == EAGAIN ? ETIMEDOUT : errno;
  answer.size = static_cast<std::size_t>(got);
  return answer.message() == nullptr ? EPROTO : 0;
}

// The error (an errno) that a message reports; 0: none, an acknowledgement. nullopt: it is another message.
std::optional<int> error_in(const nlmsghdr& message) {
  if (message.nlmsg_type != NLMSG_ERROR) return std::nullopt;
  if (message.nlmsg_len < NLMSG_LENGTH(sizeof(nlmsgerr))) return EPROTO;
  return -static_cast<const nlmsgerr*>(NLMSG_DATA(&message))->error;
}

std::optional<EthernetAddress> ethernet_of(const nlmsghdr& message) {
  if (message.nlmsg_type != RTM_NEWNEIGH || message.nlmsg_len < NLMSG_LENGTH(sizeof(ndmsg))) return std::nullopt;
  const auto* const entry = static_cast<const ndmsg*>(NLMSG_DATA(&message));
  if ((entry->ndm_state & kUsed) == 0) return std::nullopt;
  const auto* attribute =
      reinterpret_cast<const rtattr*>(reinterpret_cast<const std::byte*>(entry) + NLMSG_ALIGN(sizeof(ndmsg)));
  for (auto left = message.nlmsg_len - NLMSG_LENGTH(sizeof(ndmsg)); RTA_OK(attribute, left);
       attribute = RTA_NEXT(attribute, left)) {
    EthernetAddress address;
    if (attribute->rta_type != NDA_LLADDR || RTA_PAYLOAD(attribute) != address.bytes.size()) continue;
    std::memcpy(address.bytes.data(), RTA_DATA(attribute), address.bytes.size());
    return address;
  }
  return std::nullopt;
}

class KernelNeighbours final : public NeighbourTable {
 public:
  absl::StatusOr<std::optional<EthernetAddress>> find(std::uint32_t interface,
                                                      const routing::PortAddress& address) override {
    const EntryMessage request(RTM_GETNEIGH, 0, interface, address);
    KernelAnswer answer;
    if (const int error = exchange(request, answer); error != 0) return cannot_read(error);
    const int error = error_in(*answer.message()).value_or(0);
    if (error == ENOENT) return std::nullopt;
    if (error != 0) return cannot_read(error);
    return ethernet_of(*answer.message());
  }

  absl::Status set(std::uint32_t interface, const routing::PortAddress& address,
                   const EthernetAddress& ethernet) override {
    EntryMessage request(RTM_NEWNEIGH, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, interface, address);
    request.entry.ndm_state = NUD_REACHABLE;
    request.append(NDA_LLADDR, ethernet.bytes);
    KernelAnswer answer;
    if (const int error = exchange(request, answer); error != 0) return cannot_set(error);
    const int error = error_in(*answer.message()).value_or(EPROTO);
    return error == 0 ? absl::OkStatus() : cannot_set(error);
  }
};

}  // namespace

NeighbourTable& kernel_neighbours() {
  static KernelNeighbours table;
  return table;
}

}  // namespace cableway::host
