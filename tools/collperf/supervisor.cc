#include "tools/collperf/supervisor.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::collperf {
namespace {

constexpr std::chrono::milliseconds kTick{20};

}  // namespace

absl::Status Supervisor::run(WorkerThread& worker, WorkControl& control, std::function<absl::Status()> work) {
  worker.start(std::move(work));
  return watch(worker, control, /*watch_peers=*/true);
}

absl::Status Supervisor::run_alone(WorkerThread& worker, WorkControl& control, std::function<absl::Status()> work) {
  worker.start(std::move(work));
  return watch(worker, control, /*watch_peers=*/false);
}

absl::Status Supervisor::watch(WorkerThread& worker, WorkControl& control, bool watch_peers) {
  absl::Status lost;
  std::optional<Clock::time_point> stop_at;
  std::uint64_t last_beat = control.heartbeat.load(std::memory_order_relaxed);
  Clock::time_point last_moved = Clock::now();
  while (!worker.wait_for(kTick)) {
    tick_();
    const Clock::time_point now = Clock::now();
    const std::uint64_t beat = control.heartbeat.load(std::memory_order_relaxed);
    if (beat != last_beat) last_moved = now;
    last_beat = beat;
    if (now - last_moved > limits_.timeout) give_up(control);
    if (!watch_peers) continue;
    if (lost.ok()) lost = rendezvous_.check_peers();
    if (lost.ok()) continue;
    if (!stop_at.has_value()) stop_at = now + limits_.peer_grace;
    if (now >= *stop_at) control.stop.store(true, std::memory_order_relaxed);
  }
  absl::Status result = worker.take_result();
  const bool stopped = control.stop.exchange(false, std::memory_order_relaxed);
  if (!result.ok() && !(stopped && absl::IsCancelled(result))) return result;
  if (stopped) {
    return absl::Status(lost.code(), absl::StrCat(lost.message(), "; the plugin reported nothing within ",
                                                  seconds_of(limits_.peer_grace), " s"));
  }
  return result;
}

void Supervisor::give_up(const WorkControl& control) {
  const char* const call = control.call.load(std::memory_order_relaxed);
  const std::string reason =
      absl::StrCat("the plugin's ", call == nullptr ? "function" : call, " has not returned for ",
                   seconds_of(limits_.timeout), " s, although NCCL expects it not to block");
  std::fprintf(stderr, "collperf: %s\n", reason.c_str());
  rendezvous_.abort(reason);
  std::_Exit(kExitFailed);
}

}  // namespace cableway::collperf
