// Handles fork() in a process that uses Cableway. The parent is unaffected. The child has copies of everything except
// the control thread, and of locks that are never released. So in the child Cableway is inert at once: its sockets
// are closed but not shut down, which would end the parent's connections; its RDMA devices are released; and every
// call is refused.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_FORK_GUARD_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_FORK_GUARD_H_

#include "absl/status/status.h"

namespace cableway::nccl {

// While an instance exists, children that this process forks are inert.
class ForkGuard {
 public:
  ForkGuard();
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;
};

// Whether this process is such a child. If so, Cableway must not be used in any other way: no lock, no thread, no
// socket.
bool in_forked_child();
// The status with which calls are refused.
absl::Status forked_child_error();

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_FORK_GUARD_H_
