// Supervisor: runs work on a WorkerThread while it watches the other ranks and whether the work still moves.
//
// When another rank fails, the plugin gets `peer_grace` to notice by itself, because that is what a user wants to know;
// then the work is told to stop. Work that does not return although it was told, or that is stuck inside a plugin call,
// cannot be ended from outside: the process then says so and exits.
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
  std::atomic<std::uint64_t> heartbeat{0};  // counted up by the work between plugin calls
  std::atomic<const char*> call{nullptr};   // the plugin function that is being called, a literal
};

inline constexpr int kExitFailed = 3;

class Supervisor {
 public:
  struct Limits {
    std::chrono::milliseconds timeout;     // within which any plugin call returns
    std::chrono::milliseconds peer_grace;  // see above
  };

  // `tick` is called every few hundredths of a second while work runs.
  Supervisor(Rendezvous& rendezvous, Limits limits, std::function<void()> tick)
      : rendezvous_(rendezvous), limits_(limits), tick_(std::move(tick)) {}

  // Runs `work`. Its own error wins over the loss of a peer.
  absl::Status run(WorkerThread& worker, WorkControl& control, std::function<absl::Status()> work);

  // As run(), when the others may leave at any time.
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
