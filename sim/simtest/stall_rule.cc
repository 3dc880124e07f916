#include "sim/simtest/stall_rule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/simtest/plan/fault_reach.h"

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

constexpr int kStallRule = 10;
constexpr milliseconds kLongestStall{100};
// Flows are watched for this long after a loss.
constexpr milliseconds kWatched{250};
// A connection may be given up because of a silence that ended up to this long ago.
constexpr std::chrono::seconds kOtherFaults{10};
// For `retire`, `retired` and the first chunk that is sent again.
constexpr int kCrossings = 3;
// What queues and lagging devices may add to the stall.
constexpr milliseconds kQueues{60};
// An RDMA hop's ends learn of their connection's end at different times.
constexpr milliseconds kEndsApart{20};

}  // namespace

StallRule::StallRule(SimtestGround& ground, const std::vector<std::unique_ptr<SimtestFlow>>& flows)
    : ground_(ground), flows_(flows) {}

void StallRule::start() {
  for (const Fault& fault : ground_.plan.faults) {
    if (fault.kind != FaultKind::kCut || !is_told(fault)) continue;
    ground_.clock().post_at(Instant{fault.at}, [this, &fault] { loses_carrier(fault); });
  }
}

// Without pulses, nodes do not report the loss to their processes: only connections that end with the carrier show it.
bool StallRule::is_told(const Fault& fault) const {
  return ground_.plan.pulse > milliseconds{0} || fault.amount == 1;
}

bool StallRule::is_one_wire(std::size_t segment) const {
  const ShapePlan& shape = ground_.plan.shape;
  return segment < shape.cables.size() && shape.cables[segment].plug.empty();
}

std::vector<std::size_t> StallRule::way_of(const std::vector<Hop>& path) const {
  std::vector<std::size_t> way;
  for (const Hop& hop : path) {
    const std::optional<CablePlant::End> from = ground_.plant.find(hop.from_address);
    if (from.has_value()) way.push_back(from->segment);
  }
  return way;
}

void StallRule::loses_carrier(const Fault& fault) {
  const std::size_t segment = target_in(ground_.plan, fault);
  if (!is_one_wire(segment)) return;
  const Instant now = ground_.clock().now();
  for (std::size_t number = 0; number < flows_.size(); ++number) {
    const SimtestFlow& flow = *flows_[number];
    if (!is_to_go_on(flow, number, segment, fault)) continue;
    watches_.push_back({number, flow.attempts(), segment, now + kWatched, now, progress_of(flow), flow.done()});
  }
}

// Whether the flow loses a circuit that carries it, has another one at both ends, and nothing else is wrong.
bool StallRule::is_to_go_on(const SimtestFlow& flow, std::size_t number, std::size_t segment,
                            const Fault& fault) const {
  const FlowAttempt* const attempt = flow.attempt();
  if (attempt == nullptr || attempt->destination() == nullptr) return false;
  if (attempt->source().over() || attempt->destination()->over()) return false;
  bool loses = false;
  std::vector<std::vector<std::size_t>> left;
  std::vector<std::size_t> used;
  for (const auto& [circuit, path] : attempt->source().live_paths()) {
    std::vector<std::size_t> way = way_of(*path);
    used.insert(used.end(), way.begin(), way.end());
    if (std::find(way.begin(), way.end(), segment) != way.end()) {
      loses = loses || attempt->source().carries(circuit);
    } else if (attempt->destination()->is_live(circuit)) {
      left.push_back(std::move(way));
    }
  }
  if (!loses || left.empty() || !are_short(left, fault)) return false;
  const Instant now = ground_.clock().now();
  const Instant from = now.since_start > Duration(kOtherFaults) ? Instant{now.since_start - kOtherFaults} : Instant{};
  return std::none_of(ground_.plan.faults.begin(), ground_.plan.faults.end(), [&](const Fault& other) {
    const bool is_harmless = other.kind == FaultKind::kDrift || other.kind == FaultKind::kReplay;
    if (&other == &fault || is_harmless || !is_at_work(other, from, now + kWatched)) return false;
    if (target_of(other.kind) == FaultTarget::kFlow) return target_in(ground_.plan, other) == number;
    return std::any_of(used.begin(), used.end(), [&](std::size_t way) { return touches(ground_.plan, other, way); });
  });
}

// Each circuit on a port sends one chunk at a time, in turn.
bool StallRule::are_short(const std::vector<std::vector<std::size_t>>& ways, const Fault& fault) const {
  const SimtestPlan& plan = ground_.plan;
  std::uint64_t chunk = 0;
  std::map<std::size_t, std::uint64_t> circuits;  // by segment
  for (const std::unique_ptr<SimtestFlow>& flow : flows_) {
    chunk = std::max<std::uint64_t>(chunk, flow->plan().chunk_bytes);
    if (flow->attempt() == nullptr) continue;
    for (const auto& [circuit, path] : flow->attempt()->source().live_paths()) {
      for (const std::size_t segment : way_of(*path)) ++circuits[segment];
    }
  }
  const bool has_rdma = plan.shape.rdma_at_switch ||
                        std::any_of(plan.shape.cables.begin(), plan.shape.cables.end(),
                                    [](const CablePlan& cable) { return cable.rdma_at_a && cable.rdma_at_b; });
  Duration longest{0};
  for (const std::vector<std::size_t>& way : ways) {
    Duration takes{0};
    for (const std::size_t segment : way) {
      const double seconds =
          static_cast<double>(circuits[segment] * chunk) / static_cast<double>(plan.bytes_per_second);
      takes += std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
      if (has_rdma) takes += plan.rdma.max_lag;
    }
    longest = std::max(longest, kCrossings * takes);
  }
  if (has_rdma && fault.amount == 1) longest += kEndsApart;
  return longest <= kQueues;
}

void StallRule::check() {
  std::erase_if(watches_, [this](Watch& watch) { return look_at(watch); });
}

bool StallRule::look_at(Watch& watch) {
  const SimtestFlow& flow = *flows_[watch.flow];
  const Instant now = ground_.clock().now();
  if (flow.attempts() != watch.attempt || flow.attempt()->source().over() || now > watch.until) return true;
  const FlowProgress progress = progress_of(flow);
  const bool moves = progress.message != SIZE_MAX || flow.done() > watch.done;
  if (moves && !std::exchange(watch.counts, true)) ++checked_;
  if (progress.message == SIZE_MAX || progress != std::exchange(watch.progress, progress)) watch.since = now;
  const Duration stall = now - watch.since;
  longest_ = std::max(longest_, stall);
  if (stall <= Duration(kLongestStall)) return false;
  const auto in_ms = [](Duration time) { return std::chrono::duration_cast<milliseconds>(time).count(); };
  ground_.rules.broken(
      kStallRule,
      absl::StrCat("flow ", watch.flow, " has lost a circuit with the carrier of cable ", watch.segment,
                   ", and stalls for ", in_ms(stall), " ms although it has another one: message ", progress.message,
                   " has ", progress.landed, " of ", flow.plan().messages[progress.message].bytes, " bytes"));
  return true;
}

}  // namespace cableway::sim
