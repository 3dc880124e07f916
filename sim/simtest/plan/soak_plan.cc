#include "sim/simtest/plan/soak_plan.h"

#include <algorithm>
#include <utility>

namespace cableway::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint32_t kNodes = 4;
constexpr std::uint64_t kBytesPerSecond = 100'000;  // of each cable and direction
constexpr std::uint64_t kMessageBytes = 128U << 10;
constexpr std::uint32_t kInFlight = 4;
constexpr std::uint32_t kChunkBytes = 16U << 10;

}  // namespace

SimtestPlan make_soak_plan(std::uint64_t seed, Duration lasts) {
  SimtestPlan plan;
  plan.seed = seed;
  plan.shape.nodes = kNodes;
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    const std::uint32_t next = (node + 1) % kNodes;
    plan.shape.cables.push_back({std::min(node, next), std::max(node, next), ""});
  }
  plan.shape.cables.push_back({0, 2, ""});
  plan.bytes_per_second = kBytesPerSecond;
  plan.window_bytes = std::uint64_t{2} * kChunkBytes;
  plan.slot_bytes = kChunkBytes;
  plan.pulse = milliseconds(10);
  plan.stalls = milliseconds(60);
  plan.port_wait = microseconds(1500);
  plan.ends = lasts;
  plan.kept_messages = 4;
  // More than a cable can carry.
  const auto seconds = static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(lasts).count());
  const MessagePlan message{kMessageBytes, kMessageBytes, {}, {}};
  for (std::uint32_t from = 0; from < kNodes; ++from) {
    for (std::uint32_t to = 0; to < kNodes; ++to) {
      if (from == to) continue;
      FlowPlan flow;
      flow.source = from;
      flow.destination = to;
      flow.ordinal = from;
      flow.begins = milliseconds(500);
      flow.in_flight = kInFlight;
      flow.chunk_bytes = kChunkBytes;
      flow.messages.assign(seconds * kBytesPerSecond / kMessageBytes + 1, message);
      plan.flows.push_back(std::move(flow));
    }
  }
  return plan;
}

}  // namespace cableway::sim
