// Engine: executes schedules through the plugin, as NCCL's progress thread drives its proxy operations.
//
// One loop visits every connection: it posts messages up to the limit in flight; isend and irecv that return "not now"
// (a null request) are retried; the oldest request of a connection is tested until it is not done. When nothing moved,
// the thread yields.
//
// Which steps may start, across consecutive operations as on a CUDA stream: sim/workload/schedule_progress.h.
//
// prepare() runs on the main thread, run() on the progress thread; finished() may be called on any thread. run()
// allocates nothing unless it fails.
#ifndef CABLEWAY_TOOLS_COLLPERF_ENGINE_H_
#define CABLEWAY_TOOLS_COLLPERF_ENGINE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/workload/schedule.h"
#include "sim/workload/schedule_progress.h"
#include "tools/collperf/connections.h"
#include "tools/collperf/host_memory.h"
#include "tools/collperf/net_plugin.h"
#include "tools/collperf/supervisor.h"

namespace cableway::collperf {

using workload::Location;
using workload::Step;

struct EngineSettings {
  int in_flight = 8;                         // requests per connection
  bool recv_hint = true;                     // put NCCL's "completion is optional" into *request of irecv
  std::chrono::microseconds idle{0};         // sleep this long when nothing moves, instead of yielding
  std::chrono::milliseconds timeout{60000};  // limit without any progress, after which the run fails
};

class Engine {
 public:
  Engine(NetPlugin& net, const HostMemory& memory, EngineSettings settings, WorkControl& control)
      : net_(net),
        memory_(memory),
        settings_(settings),
        control_(control),
        progress_(static_cast<std::uint64_t>(settings.in_flight)) {}

  // Sets the schedule of the next runs. Precondition: its connections exist.
  void prepare(Schedule schedule, const ConnectionTable& connections);

  // Executes the schedule `operations` times. The error names the call, the peer, or what is stuck.
  absl::Status run(std::uint64_t operations);

  // About the last run().
  std::chrono::nanoseconds elapsed() const { return elapsed_; }
  int last_output_area() const { return area_of(Region::kOutput, progress_.operations() - 1); }

  // Since reset_statistics(): the time from each operation's settling to the next one's in nanoseconds, up to a limit
  // of operations; and what was sent.
  const std::vector<std::uint32_t>& durations() const { return durations_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t messages_sent() const { return messages_sent_; }
  void reset_statistics();

  // Operations completed in this run().
  std::uint64_t finished() const { return progress_.finished(); }

 private:
  using Due = workload::ScheduleProgress::Due;

  // One connection of the schedule.
  struct Lane {
    workload::ScheduleProgress::LaneIndex index = 0;
    ConnectionKey key{};
    const Connection* connection = nullptr;
    std::vector<void*> requests;  // those in flight, a ring
  };

  enum class Outcome { kIdle, kMoved, kFailed };

  void start_run(std::uint64_t operations);
  Outcome pass();
  Outcome post(Lane& lane);
  Outcome post_one(const Lane& lane, const Due& due, void** request);
  Outcome test_oldest(Lane& lane);
  bool advance_operations();
  bool run_one_copy();
  void run_adds();
  void compute(const Due& due);
  void record_duration();
  std::uint8_t* at(Location location, std::uint64_t operation) const;
  void* mhandle_of(const Lane& lane, Location location, std::uint64_t operation) const;
  Outcome fail(absl::Status error);
  std::string stuck_list() const;

  template <typename Call>
  nccl::abi::Result guard(const char* name, Call call);

  NetPlugin& net_;
  const HostMemory& memory_;
  const EngineSettings settings_;
  WorkControl& control_;

  workload::ScheduleProgress progress_;
  std::vector<Lane> lanes_;

  Clock::time_point settled_at_;
  std::chrono::nanoseconds elapsed_{0};
  std::vector<std::uint32_t> durations_;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t messages_sent_ = 0;
  absl::Status error_;
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_ENGINE_H_
