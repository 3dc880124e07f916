// Supervisor: runs work on a WorkerThread while it monitors the other ranks and the progress of the work.
//
// When another rank fails, the plugin has `peer_grace` to report it by itself, since that is part of the test; then the
// work is requested to stop. Work that does not return, or that is stuck inside a plugin call, cannot be ended from
// outside: the process then reports that and exits.
#ifndef CABLEWAY_TOOLS_COLLPERF_SUPERVISOR_H_
#define CABLEWAY_TOOLS_COLLPERF_SUPERVISOR_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "tools/collperf/rendezvous.h"
#include "tools/collperf/worker_thread.h"

namespace cableway::collperf {

// Shared between the work and its supervisor.
struct WorkControl {
  std::atomic<bool> stop{false};            // set by the supervisor; the work returns soon after
  std::atomic<std::uint64_t> heartbeat{0};  // incremented by the work between plugin calls
  std::atomic<const char*> call{nullptr};   // the plugin function being called, a literal
};

inline constexpr int kExitFailed = 3;

class Supervisor {
 public:
  struct Limits {
    std::chrono::milliseconds timeout;     // limit of any plugin call
    std::chrono::milliseconds peer_grace;  // see above
  };

  // `tick` is called about every 20 ms while work runs.
  Supervisor(Rendezvous& rendezvous, Limits limits, std::function<void()> tick)
      : rendezvous_(rendezvous), limits_(limits), tick_(std::move(tick)) {}

  // Runs `work`. An error of `work` takes precedence over the loss of a peer.
  absl::Status run(WorkerThread& worker, WorkControl& control, std::function<absl::Status()> work);

  // Like run(), when the other ranks may disconnect at any time.
  absl::Status run_alone(WorkerThread& worker, WorkControl& control, std::function<absl::Status()> work);

 private:
  absl::Status watch(WorkerThread& worker, WorkControl& control, bool watch_peers);
  [[noreturn]] void give_up(const WorkControl& control);

  Rendezvous& rendezvous_;
  const Limits limits_;
  const std::function<void()> tick_;
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_SUPERVISOR_H_
