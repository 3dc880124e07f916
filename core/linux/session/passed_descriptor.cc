#include "core/linux/session/passed_descriptor.h"

#include <sys/socket.h>

#include <array>
#include <cstring>

namespace cableway::host {
namespace {

// Room for one descriptor; the kernel closes any others.
struct alignas(cmsghdr) ControlBuffer {
  std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

}  // namespace

ssize_t send_with_descriptor(int socket, std::span<const std::byte> bytes, int descriptor) {
  iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ReceivedWithDescriptor receive_with_descriptor(int socket, std::span<std::byte> bytes) {
  iovec data{bytes.data(), bytes.size()};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_LEN(sizeof(int));  // CMSG_SPACE() has room for a second one
  ReceivedWithDescriptor received{::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC), UniqueFd()};
  if (received.bytes < 0) return received;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  const bool has_one = header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
                       header->cmsg_len == CMSG_LEN(sizeof(int));
  if (!has_one) return received;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  received.descriptor = UniqueFd(descriptor);
  return received;
}

}  // namespace cableway::host
