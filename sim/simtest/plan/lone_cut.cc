#include "sim/simtest/plan/lone_cut.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

// A flow lasts for about 1.2 s, half of it after a cut.
constexpr std::size_t kMessagesOfFlow = 60;
constexpr milliseconds kLongestWait{40};  // of a message, before its source posts it
constexpr milliseconds kFirstCut{900};
constexpr milliseconds kLastCut{1700};

ShapePlan ring_with_chord(SimtestRandom& random) {
  ShapePlan shape;
  shape.nodes = static_cast<std::uint32_t>(random.between(4, 7));
  for (std::uint32_t node = 0; node < shape.nodes; ++node) {
    const std::uint32_t next = (node + 1) % shape.nodes;
    shape.cables.push_back({std::min(node, next), std::max(node, next), ""});
  }
  // Possibly beside another cable.
  const auto a = static_cast<std::uint32_t>(random.below(shape.nodes));
  const auto b = static_cast<std::uint32_t>(random.below(shape.nodes));
  if (a != b && random.happens(500)) shape.cables.push_back({std::min(a, b), std::max(a, b), ""});
  return shape;
}

FlowPlan long_flow(SimtestRandom& random, const ShapePlan& shape) {
  FlowPlan flow;
  flow.source = static_cast<std::uint32_t>(random.below(shape.nodes));
  flow.destination = static_cast<std::uint32_t>((flow.source + random.between(1, shape.nodes - 1)) % shape.nodes);
  flow.ordinal = random.below(4);
  flow.begins = random.between(Duration(milliseconds(400)), Duration(milliseconds(600)));
  flow.in_flight = static_cast<std::uint32_t>(random.one_of(std::vector<std::uint64_t>{1, 2, 8}));
  // Small, so that no chunk waits long behind those of other flows.
  flow.chunk_bytes = static_cast<std::uint32_t>(random.one_of(std::vector<std::uint64_t>{256, 4096, 16384}));
  const std::vector<std::uint64_t> sizes{0, 1, 4097, 65536, 65536, 262144};
  for (std::size_t i = 0; i < kMessagesOfFlow; ++i) {
    MessagePlan message;
    message.bytes = message.capacity = random.one_of(sizes);
    message.source_waits = random.between(Duration{0}, Duration(kLongestWait));
    flow.messages.push_back(message);
  }
  return flow;
}

}  // namespace

void make_lone_cut(SimtestRandom& random, SimtestPlan& plan) {
  plan.shape = ring_with_chord(random);
  plan.flows.clear();
  for (std::uint64_t i = random.between(2, 3); i > 0; --i) plan.flows.push_back(long_flow(random, plan.shape));
  plan.faults.clear();
  Duration at = random.between(Duration(kFirstCut), Duration(kLastCut));
  for (std::uint64_t i = random.between(1, 2); i > 0; --i) {
    Fault cut;
    cut.at = at / 100'000 * 100'000;
    cut.lasts = random.happens(200) ? Duration{0} : milliseconds(random.between(1, 3000));
    // More often than not a cable of the first flow's source.
    std::vector<std::uint64_t> near;
    for (std::uint64_t cable = 0; cable < plan.shape.cables.size(); ++cable) {
      const CablePlan& each = plan.shape.cables[cable];
      if (each.a == plan.flows.front().source || each.b == plan.flows.front().source) near.push_back(cable);
    }
    cut.target =
        static_cast<std::uint32_t>(random.happens(600) ? random.one_of(near) : random.below(plan.shape.cables.size()));
    cut.amount = random.below(2);
    plan.faults.push_back(cut);
    at += random.between(Duration(milliseconds(300)), Duration(milliseconds(800)));
  }
}

}  // namespace cableway::sim
