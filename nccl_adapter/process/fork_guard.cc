#include "nccl_adapter/process/fork_guard.h"

#include <pthread.h>

#include <atomic>

#include "core/linux/os/own_descriptors.h"

namespace cableway::nccl {
namespace {

std::atomic<int> guards = 0;
std::atomic<bool> inert = false;

// Other threads may have held any lock at the time of the fork.
void after_fork_in_child() {
  if (guards.load(std::memory_order_relaxed) == 0 || inert.load(std::memory_order_relaxed)) return;
  host::close_own_descriptors();
  inert.store(true, std::memory_order_relaxed);
}

}  // namespace

ForkGuard::ForkGuard() {
  // Registered once for the process's lifetime, since the library is never unmapped. If the registration fails for
  // lack of memory, children run as without this guard.
  static const int registered = ::pthread_atfork(nullptr, nullptr, after_fork_in_child);
  static_cast<void>(registered);
  guards.fetch_add(1, std::memory_order_relaxed);
}

ForkGuard::~ForkGuard() {
  guards.fetch_sub(1, std::memory_order_relaxed);
}

bool in_forked_child() {
  return inert.load(std::memory_order_relaxed);
}

absl::Status forked_child_error() {
  return absl::FailedPreconditionError(
      "this process was forked from one that uses Cableway, and the connections belong to that process: use NCCL in "
      "processes that were started by exec, or forked before NCCL was initialised");
}

}  // namespace cableway::nccl
