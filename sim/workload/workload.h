// NCCL's operations, as collperf runs them and the simulator predicts them: the meaning of their sizes, and the memory
// that each needs.
//
// Sizes and bus factors are those of nccl-tests: `size` is the whole buffer of the operation (all ranks' parts together
// for all_gather, reduce_scatter and all_to_all), and
//   algbw = size / time,  busbw = algbw * bus_factor().
#ifndef CABLEWAY_SIM_WORKLOAD_WORKLOAD_H_
#define CABLEWAY_SIM_WORKLOAD_WORKLOAD_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cableway::workload {

enum class Operation {
  kAllReduceRing,
  kAllReduceTree,
  kAllGather,
  kReduceScatter,
  kBroadcast,  // from rank 0
  kReduce,     // the sum to rank 0
  kAllToAll,
  kOpposite,   // every rank r sends to (r + N/2) % N, simultaneously
  kNeighbour,  // every rank r sends to (r + 1) % N, simultaneously
  kPair,       // source sends to destination, the other ranks are idle
  kPingPong,   // source sends to destination, which sends the same bytes back once it has all of them
  kPipeline,   // rank 0's bytes go from rank to rank in micro-batches; each is forwarded when complete
};

struct Workload {
  Operation operation = Operation::kAllReduceRing;
  int source = -1;        // kPair and kPingPong
  int destination = -1;   // kPair and kPingPong
  int micro_batches = 1;  // kPipeline, at least 1

  friend bool operator==(const Workload&, const Workload&) = default;
};

// "all_reduce", "sendrecv", ...
std::string operation_name(const Workload& workload);

// Distinguishes workloads of one operation: "ring", "tree", "opposite", "pair 0 2", "8 batches", ...; empty if the
// operation has one variant.
std::string variant_name(const Workload& workload);

// True for the operations that NCCL runs over its point-to-point connections, with smaller steps.
bool is_point_to_point(const Workload& workload);

double bus_factor(const Workload& workload, int ranks);

// The part of an operation's duration that is its time: half for pingpong, an operation of which is a round trip; 1 for
// all others. All times, percentiles and bandwidths of collperf and the simulator include it.
double time_share(const Workload& workload);

// The smallest size not below `size` that the operation can divide among its ranks.
std::uint64_t rounded_size(const Workload& workload, int ranks, std::uint64_t size);

// The bytes of a micro-batch of a pipeline: a multiple of 128, so the last one may be shorter and there may be fewer
// than `micro_batches`. At least 128.
std::uint64_t micro_batch_bytes(std::uint64_t size, int micro_batches);

// The buffers of each rank, in bytes, for a rounded size.
std::uint64_t input_size(const Workload& workload, int ranks, std::uint64_t size);
std::uint64_t output_size(const Workload& workload, int ranks, std::uint64_t size);

// A contiguous part of a rank's output buffer and its expected contents.
struct ExpectedSegment {
  enum class Content {
    kFromRank,   // the bytes of `rank`'s input from `input_offset`
    kSum,        // the sum, modulo 2^32 per word, of all ranks' inputs from `input_offset`
    kUntouched,  // the previous contents
  };
  Content content;
  std::uint64_t output_offset;
  std::uint64_t bytes;
  int rank;
  std::uint64_t input_offset;
};

// Segments that cover the whole output buffer of `rank`, in order, without gaps.
std::vector<ExpectedSegment> expected_output(const Workload& workload, int rank, int ranks, std::uint64_t size);

}  // namespace cableway::workload

#endif  // CABLEWAY_SIM_WORKLOAD_WORKLOAD_H_
