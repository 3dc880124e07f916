// ScheduleBuilder: appends steps to a schedule and keeps track of staging slots. Also the functions by which both ends
// of a connection divide the same bytes into the same messages.
//
// Used by the files of the operation families (ring_schedule.cc, tree_schedule.cc, pairwise_schedule.cc).
#ifndef CABLEWAY_SIM_WORKLOAD_SCHEDULE_BUILDER_H_
#define CABLEWAY_SIM_WORKLOAD_SCHEDULE_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/workload/schedule.h"

namespace cableway::workload {

// A contiguous part of a buffer.
struct Range {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// The share of each channel in `range`, in order; only as many channels as are worth using, at least one. Shares start
// at multiples of 128 bytes from the start of the range.
std::vector<Range> channel_shares(Range range, int channels);

// The message size that divides `bytes` into about `pieces`, within [16 KiB, step_bytes].
std::uint64_t message_size(std::uint64_t bytes, std::uint64_t pieces, std::uint64_t step_bytes);

// Calls visit(Range) for each message of `range`; one empty message for an empty range, as NCCL sends one.
template <typename Visitor>
void for_each_message(Range range, std::uint64_t message_bytes, Visitor visit) {
  std::uint64_t done = 0;
  do {
    const std::uint64_t bytes = std::min(message_bytes, range.bytes - done);
    visit(Range{range.offset + done, bytes});
    done += bytes;
  } while (done < range.bytes);
}

class ScheduleBuilder {
 public:
  // `slot_bytes` is the largest message that will be staged.
  ScheduleBuilder(const ScheduleParameters& parameters, std::uint64_t slot_bytes);

  StepIndex send(int peer, int channel, Location source, std::uint64_t bytes,
                 std::initializer_list<StepIndex> dependencies = {});
  StepIndex receive(int peer, int channel, Location target, std::uint64_t bytes);
  StepIndex add(Location target, Location source, Location addend, std::uint64_t bytes,
                std::initializer_list<StepIndex> dependencies);
  // Completes when all of `dependencies` have.
  StepIndex join(const std::vector<StepIndex>& dependencies);
  // Split into pieces, so that an executor can interleave other work.
  void copy(Location target, Location source, std::uint64_t bytes);

  struct Staged {
    StepIndex step;
    Location slot;
  };
  // A receive into the next slot of this peer and channel. Every staged receive needs its release() before the
  // connection's slots wrap around.
  Staged receive_staged(int peer, int channel, std::uint64_t bytes);
  // The slot is free when the step `last_user` has completed.
  void release(int peer, int channel, StepIndex last_user);

  Schedule finish() &&;

 private:
  // The slots of one peer and channel, used round-robin.
  struct SlotRing {
    std::uint64_t base = 0;
    std::uint64_t received = 0;
    std::uint64_t released = 0;
    std::vector<StepIndex> last_users;
  };

  StepIndex append(Step step, std::span<const StepIndex> dependencies);

  std::uint64_t slot_bytes_;
  std::uint64_t slots_;
  std::map<std::pair<int, int>, SlotRing> rings_;
  Schedule schedule_;
};

// The families. Each builds the schedules of its operations; build_schedule() selects one.
Schedule ring_schedule(const ScheduleParameters& parameters);      // the collectives
Schedule tree_schedule(const ScheduleParameters& parameters);      // all_reduce
Schedule pairwise_schedule(const ScheduleParameters& parameters);  // all_to_all, send/recv, round trip, pipeline

}  // namespace cableway::workload

#endif  // CABLEWAY_SIM_WORKLOAD_SCHEDULE_BUILDER_H_
