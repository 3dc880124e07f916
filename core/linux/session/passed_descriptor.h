// Passes a descriptor to another process with the first bytes of a message on a local socket (unix(7), SCM_RIGHTS).
#ifndef CABLEWAY_CORE_LINUX_SESSION_PASSED_DESCRIPTOR_H_
#define CABLEWAY_CORE_LINUX_SESSION_PASSED_DESCRIPTOR_H_

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// Does not block. Returns the number of bytes sent; the descriptor goes with them. Negative, with errno set: nothing
// was sent.
ssize_t send_with_descriptor(int socket, std::span<const std::byte> bytes, int descriptor);

struct ReceivedWithDescriptor {
  ssize_t bytes = 0;  // 0: the other end has closed; negative: an error, in errno
  UniqueFd descriptor;
};
// Does not block.
ReceivedWithDescriptor receive_with_descriptor(int socket, std::span<std::byte> bytes);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_PASSED_DESCRIPTOR_H_
