// A schedule: one rank's part in one operation, as data.
//
// A schedule is a list of steps (send, receive, add, copy) on three memory regions, with the steps that each must wait
// for. It is computed beforehand from the operation, the size and the rank alone, so it can be tested without a
// network.
//
// How a schedule is executed:
//  - A step may start when all steps it depends on have completed. Dependencies always point to earlier steps.
//  - The sends to one peer on one channel start in list order, and so do the receives from one peer on one channel; the
//    k-th send of one end is the k-th receive of the other. No other ordering is implied by the list.
//  - A send reads its source until it completes; a receive may write its target from its start to its completion.
//  - Any limit of one or more on the steps in flight per connection is safe: no schedule can deadlock.
// Every output byte is written at most once, and a staging slot is reused only after its last reader has completed:
// both are expressed as dependencies, not left to the executor.
#ifndef CABLEWAY_SIM_WORKLOAD_SCHEDULE_H_
#define CABLEWAY_SIM_WORKLOAD_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "sim/workload/workload.h"

namespace cableway::workload {

enum class Region : std::uint8_t {
  kInput,    // the rank's contribution, never written
  kOutput,   // the result
  kStaging,  // slots for data that has to be reduced before it is sent or output
};

using StepIndex = std::uint32_t;

struct Location {
  Region region = Region::kInput;
  std::uint64_t offset = 0;

  friend bool operator==(const Location&, const Location&) = default;
};

enum class StepKind : std::uint8_t {
  kSend,     // source -> peer
  kReceive,  // peer -> target
  kAdd,      // target = source + addend, as 32-bit words modulo 2^32
  kCopy,     // target = source
};

struct Step {
  StepKind kind = StepKind::kSend;
  int peer = -1;     // kSend, kReceive
  int channel = -1;  // kSend, kReceive
  Location target{};
  Location source{};
  Location addend{};
  std::uint64_t bytes = 0;     // what is sent, received, added or copied; 0 is an empty message
  std::uint64_t capacity = 0;  // kReceive: posted bytes, at least `bytes`
  std::uint32_t first_dependency = 0;
  std::uint32_t dependency_count = 0;
};

struct Schedule {
  std::vector<Step> steps;
  std::vector<StepIndex> dependencies;  // concatenated ranges, one per step
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t staging_bytes = 0;
};

struct ScheduleParameters {
  Workload workload;
  int rank = 0;
  int ranks = 2;
  std::uint64_t size = 0;  // rounded, see rounded_size()
  int channels = 1;
  std::uint64_t step_bytes = std::uint64_t{512} * 1024;  // the largest message; a multiple of 128
  int in_flight = 8;  // half the number of staging slots, as in NCCL, which has this many at both ends
};

// Below this size per channel fewer channels are used, like NCCL for small operations.
inline constexpr std::uint64_t kMinChannelBytes = std::uint64_t{16} * 1024;

Schedule build_schedule(const ScheduleParameters& parameters);

}  // namespace cableway::workload

#endif  // CABLEWAY_SIM_WORKLOAD_SCHEDULE_H_
