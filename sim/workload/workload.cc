#include "sim/workload/workload.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/workload/line.h"

namespace cableway::workload {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint32_t);

}  // namespace

std::string operation_name(const Workload& workload) {
  switch (workload.operation) {
    case Operation::kAllReduceRing:
    case Operation::kAllReduceTree:
      return "all_reduce";
    case Operation::kAllGather:
      return "all_gather";
    case Operation::kReduceScatter:
      return "reduce_scatter";
    case Operation::kBroadcast:
      return "broadcast";
    case Operation::kReduce:
      return "reduce";
    case Operation::kAllToAll:
      return "all_to_all";
    case Operation::kOpposite:
    case Operation::kNeighbour:
    case Operation::kPair:
      return "sendrecv";
    case Operation::kPingPong:
      return "pingpong";
    case Operation::kPipeline:
      return "pipeline";
  }
  return "";
}

std::string variant_name(const Workload& workload) {
  switch (workload.operation) {
    case Operation::kAllReduceRing:
      return "ring";
    case Operation::kAllReduceTree:
      return "tree";
    case Operation::kOpposite:
      return "opposite";
    case Operation::kNeighbour:
      return "neighbour";
    case Operation::kPair:
    case Operation::kPingPong:
      return absl::StrCat("pair ", workload.source, " ", workload.destination);
    case Operation::kPipeline:
      return absl::StrCat(workload.micro_batches, workload.micro_batches == 1 ? " batch" : " batches");
    default:
      return "";
  }
}

bool is_point_to_point(const Workload& workload) {
  switch (workload.operation) {
    case Operation::kAllToAll:
    case Operation::kOpposite:
    case Operation::kNeighbour:
    case Operation::kPair:
    case Operation::kPingPong:
    case Operation::kPipeline:
      return true;
    default:
      return false;
  }
}

double bus_factor(const Workload& workload, int ranks) {
  const double n = ranks;
  switch (workload.operation) {
    case Operation::kAllReduceRing:
    case Operation::kAllReduceTree:
      return 2 * (n - 1) / n;
    case Operation::kAllGather:
    case Operation::kReduceScatter:
    case Operation::kAllToAll:
      return (n - 1) / n;
    default:
      return 1;
  }
}

double time_share(const Workload& workload) {
  return workload.operation == Operation::kPingPong ? 0.5 : 1;
}

std::uint64_t rounded_size(const Workload& workload, int ranks, std::uint64_t size) {
  const std::uint64_t n = static_cast<std::uint64_t>(ranks);
  switch (workload.operation) {
    case Operation::kAllReduceRing:
    case Operation::kAllReduceTree:
    case Operation::kReduce:
      return round_up(size, kWord);
    case Operation::kReduceScatter:
      return round_up(size, kWord * n);
    case Operation::kAllGather:
    case Operation::kAllToAll:
      return round_up(size, n);
    default:
      return size;
  }
}

std::uint64_t micro_batch_bytes(std::uint64_t size, int micro_batches) {
  const std::uint64_t batches = static_cast<std::uint64_t>(micro_batches);
  return std::max(kLine, round_up((size + batches - 1) / batches, kLine));
}

std::uint64_t input_size(const Workload& workload, int ranks, std::uint64_t size) {
  return workload.operation == Operation::kAllGather ? size / static_cast<std::uint64_t>(ranks) : size;
}

std::uint64_t output_size(const Workload& workload, int ranks, std::uint64_t size) {
  return workload.operation == Operation::kReduceScatter ? size / static_cast<std::uint64_t>(ranks) : size;
}

std::vector<ExpectedSegment> expected_output(const Workload& workload, int rank, int ranks, std::uint64_t size) {
  using Content = ExpectedSegment::Content;
  const std::uint64_t block = size / static_cast<std::uint64_t>(ranks);
  const std::uint64_t own_offset = block * static_cast<std::uint64_t>(rank);
  std::vector<ExpectedSegment> segments;
  switch (workload.operation) {
    case Operation::kAllReduceRing:
    case Operation::kAllReduceTree:
      segments.push_back({Content::kSum, 0, size, 0, 0});
      break;
    case Operation::kReduceScatter:
      segments.push_back({Content::kSum, 0, block, 0, own_offset});
      break;
    case Operation::kAllGather:
      for (int r = 0; r < ranks; ++r) {
        segments.push_back({Content::kFromRank, block * static_cast<std::uint64_t>(r), block, r, 0});
      }
      break;
    case Operation::kAllToAll:
      for (int r = 0; r < ranks; ++r) {
        segments.push_back({Content::kFromRank, block * static_cast<std::uint64_t>(r), block, r, own_offset});
      }
      break;
    case Operation::kBroadcast:
      segments.push_back({Content::kFromRank, 0, size, 0, 0});
      break;
    case Operation::kReduce:
      segments.push_back({rank == 0 ? Content::kSum : Content::kUntouched, 0, size, 0, 0});
      break;
    case Operation::kPipeline:
      segments.push_back({rank == 0 ? Content::kUntouched : Content::kFromRank, 0, size, 0, 0});
      break;
    case Operation::kOpposite:
      segments.push_back({Content::kFromRank, 0, size, (rank + ranks - ranks / 2) % ranks, 0});
      break;
    case Operation::kNeighbour:
      segments.push_back({Content::kFromRank, 0, size, (rank + ranks - 1) % ranks, 0});
      break;
    case Operation::kPair:
    case Operation::kPingPong: {
      const bool receives =
          rank == workload.destination || (rank == workload.source && workload.operation == Operation::kPingPong);
      segments.push_back({receives ? Content::kFromRank : Content::kUntouched, 0, size, workload.source, 0});
      break;
    }
  }
  return segments;
}

}  // namespace cableway::workload
