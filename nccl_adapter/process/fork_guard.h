// What fork() means to a process that uses Cableway. The parent notices nothing. The child has copies of everything but
// the thread that makes it work, and of locks that nobody will open, so there Cableway is inert from the first moment:
// its sockets are closed, not shut down, which would end the parent's connections, its RDMA devices are let go, and
// every call is refused.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_FORK_GUARD_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_FORK_GUARD_H_

#include "absl/status/status.h"

namespace cableway::nccl {

// As long as one lives, children that this process forks are inert.
class ForkGuard {
 public:
  ForkGuard();
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;
};

// Whether this process is such a child. Nothing else may then be asked of Cableway: no lock, no thread, no socket.
bool in_forked_child();
// What its calls are refused with.
absl::Status forked_child_error();

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_FORK_GUARD_H_
