// Engine: executes schedules through the plugin, as NCCL's progress thread drives its proxy operations.
//
// One loop visits every connection: it posts what may be posted, up to the limit in flight; isend and irecv that answer
// "not now" (a null request) are tried again; the oldest request of a connection is tested until it is not done. When
// nothing moved, the thread yields.
//
// Operations follow each other as on a CUDA stream. Two are open at a time: the receives of the next are posted while
// the current one still runs, because NCCL's host runs ahead of the GPU; everything else of it waits until the current
// one has received and computed all and posted all its sends, as NCCL's kernels end when the last data is handed to the
// proxy. A third begins only when the first has completed altogether, sends included.
//
// prepare() on the main thread, run() on the progress thread; finished() may be read anywhere. run() allocates nothing
// unless it fails.
#ifndef CABLEWAY_TOOLS_COLLPERF_ENGINE_H_
#define CABLEWAY_TOOLS_COLLPERF_ENGINE_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/workload/schedule.h"
#include "tools/collperf/connections.h"
#include "tools/collperf/host_memory.h"
#include "tools/collperf/net_plugin.h"
#include "tools/collperf/supervisor.h"

namespace cableway::collperf {

using workload::Location;
using workload::Step;
using workload::StepIndex;

struct EngineSettings {
  int in_flight = 8;                         // requests per connection
  bool recv_hint = true;                     // put NCCL's "completion is optional" into *request of irecv
  std::chrono::microseconds idle{0};         // sleep this long when nothing moves, rather than yield
  std::chrono::milliseconds timeout{60000};  // without any progress, before the run fails
};

class Engine {
 public:
  Engine(NetPlugin& net, const HostMemory& memory, EngineSettings settings, WorkControl& control)
      : net_(net), memory_(memory), settings_(settings), control_(control) {}

  // Takes the schedule that the next runs will execute; its connections exist.
  void prepare(Schedule schedule, const ConnectionTable& connections);

  // Executes the schedule `operations` times. The error names the call, the peer, or what is stuck.
  absl::Status run(std::uint64_t operations);

  // About the last run().
  std::chrono::nanoseconds elapsed() const { return elapsed_; }
  int last_output_area() const { return area_of(Region::kOutput, operations_ - 1); }

  // Since reset_statistics(): the time from each operation's settling to the next one's in nanoseconds, up to a limit
  // of operations; and the bytes sent.
  const std::vector<std::uint32_t>& durations() const { return durations_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  void reset_statistics();

  // Operations completed in this run().
  std::uint64_t finished() const { return finished_.load(std::memory_order_relaxed); }

 private:
  // A place in the sequence of a connection's messages over all operations of a run.
  struct Cursor {
    std::uint64_t operation = 0;
    std::size_t index = 0;  // into Lane::steps
    std::uint64_t count = 0;

    void advance(std::size_t steps);
  };

  // One connection and the steps that use it.
  struct Lane {
    ConnectionKey key{};
    const Connection* connection = nullptr;
    std::vector<StepIndex> steps;
    std::vector<void*> requests;  // those in flight, a ring
    Cursor posted;
    Cursor completed;
  };

  // The state of one open operation.
  struct Open {
    std::vector<std::uint32_t> waiting;  // by step: dependencies that have not completed
    std::uint64_t incomplete = 0;        // steps that have not completed
    std::uint64_t unsettled = 0;         // as above, but a send counts until it is posted
  };

  enum class Outcome { kIdle, kMoved, kFailed };

  void start_run(std::uint64_t operations);
  void open_operation(std::uint64_t operation);
  void start_local_steps(std::uint64_t operation);
  Outcome pass();
  Outcome post(Lane& lane);
  Outcome post_one(Lane& lane, const Step& step, std::uint64_t operation, void** request);
  Outcome test_oldest(Lane& lane);
  bool advance_operations();
  bool run_one_copy();
  bool may_post(const Lane& lane) const;
  void complete(std::uint64_t operation, StepIndex step);
  void run_ready(std::uint64_t operation);
  void compute(const Step& step, std::uint64_t operation);
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

  Schedule schedule_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> dependency_counts_;  // by step
  std::vector<std::uint32_t> first_dependent_;    // by step, and one more: ranges of dependents_
  std::vector<StepIndex> dependents_;
  std::vector<StepIndex> local_steps_;  // adds and copies

  // Operations are numbered from 0 in a run: finished_ <= running_ < opened_ <= finished_ + kOperationsOpen.
  std::uint64_t operations_ = 0;
  std::uint64_t opened_ = 0;   // how many have been opened: their receives may be posted
  std::uint64_t running_ = 0;  // the newest whose other steps may start
  std::uint64_t settled_ = 0;  // how many have settled
  std::array<Open, kOperationsOpen> open_;
  std::vector<StepIndex> ready_;   // adds that can be computed, of the operation being looked at
  std::vector<StepIndex> copies_;  // copies of the running operation, one per pass
  std::atomic<std::uint64_t> finished_{0};

  Clock::time_point settled_at_;
  std::chrono::nanoseconds elapsed_{0};
  std::vector<std::uint32_t> durations_;
  std::uint64_t bytes_sent_ = 0;
  absl::Status error_;
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_ENGINE_H_
