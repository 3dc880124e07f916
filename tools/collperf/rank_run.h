// RankRun: one rank's part of a run, from the rendezvous to the report.
//
// Threads, as in NCCL: init, devices and properties on the main thread; listening, connecting, registering and closing
// on a service thread; sending and receiving on a progress thread. The main thread supervises and communicates with the
// other ranks.
#ifndef CABLEWAY_TOOLS_COLLPERF_RANK_RUN_H_
#define CABLEWAY_TOOLS_COLLPERF_RANK_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/collperf/connections.h"
#include "tools/collperf/engine.h"
#include "tools/collperf/host_memory.h"
#include "tools/collperf/options.h"
#include "tools/collperf/plugin_library.h"
#include "tools/collperf/rendezvous.h"
#include "tools/collperf/report.h"
#include "tools/collperf/supervisor.h"
#include "tools/collperf/test_data.h"
#include "tools/collperf/worker_thread.h"

namespace cableway::collperf {

using workload::ScheduleParameters;

class RankRun {
 public:
  explicit RankRun(const Options& options) : options_(options) {}

  // Runs everything and reports. Returns the exit status.
  int execute();

 private:
  struct Measurement {
    Workload workload;
    std::uint64_t size;
    DataTag tag;
    std::vector<ExpectedSegment> expected;
    RankResult result;
    Clock::time_point began{};  // after the operations to warm up
  };

  absl::Status open_plugin();
  absl::Status init_plugin();
  absl::Status allocate_memory();
  absl::Status run_all();
  absl::Status measure(const Workload& workload, std::uint64_t size, std::uint32_t number);
  absl::Status connect(const Schedule& schedule);
  absl::Status run_timed(Measurement& measurement);
  absl::Status run_batch(Measurement& measurement, std::uint64_t operations);
  absl::Status run_checked(Measurement& measurement);
  // What counts for --seconds or --wall-seconds.
  double time_so_far(const Measurement& measurement) const;
  absl::StatusOr<std::uint64_t> agree_on_batch(const Measurement& measurement);
  absl::Status run_operations(std::uint64_t operations);
  absl::Status gather_places();
  absl::Status gather(const Measurement& measurement);
  absl::Status close_all();
  absl::Status announce_operation(const Workload& workload);
  void refresh(Measurement& measurement);
  void check(Measurement& measurement);
  void report_wrong(const Measurement& measurement, const CheckResult& check, const char* where) const;
  ScheduleParameters parameters_of(const Workload& workload, std::uint64_t size) const;
  void tick();
  void report(const absl::Status& status);  // once
  int finish(const absl::Status& status);

  bool prints_table() const { return options_.place.rank == 0 && options_.json != "-"; }

  const Options options_;
  PluginDescription description_;
  std::unique_ptr<Rendezvous> rendezvous_;
  std::optional<PluginLibrary> library_;
  bool initialized_ = false;
  bool reported_ = false;
  std::optional<HostMemory> memory_;
  WorkControl service_control_;
  WorkControl progress_control_;
  std::optional<ConnectionTable> connections_;
  std::optional<Engine> engine_;
  std::optional<Supervisor> supervisor_;
  WorkerThread service_;
  WorkerThread progress_;

  std::string current_;  // the measurement, for --progress
  Clock::time_point next_progress_{};
  std::vector<RankPlace> places_;  // by rank
  std::vector<Result> results_;
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_RANK_RUN_H_
