#include "sim/simtest/unreached_flows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::sim {
namespace {

constexpr std::chrono::milliseconds kLongestPause{1000};

// Such a message ends the flow with an error.
bool has_too_large_message(const FlowPlan& plan) {
  return std::any_of(plan.messages.begin(), plan.messages.end(),
                     [](const MessagePlan& message) { return message.bytes > message.capacity; });
}

// Whether an end has closed the flow with all messages done: the other end may find that its circuits end.
bool is_closed(const FlowAttempt* attempt) {
  if (attempt == nullptr) return false;
  if (attempt->source().over() && attempt->source().reason().ok()) return true;
  return attempt->destination() != nullptr && attempt->destination()->over() && attempt->destination()->reason().ok();
}

}  // namespace

UnreachedFlows::UnreachedFlows(SimtestGround& ground, const std::vector<std::unique_ptr<SimtestFlow>>& flows, int rule,
                               std::string cause)
    : ground_(ground), flows_(flows), rule_(rule), cause_(std::move(cause)), watches_(ground.plan.flows.size()) {}

bool UnreachedFlows::is_reached(std::size_t flow, const std::vector<Hop>& path, const AdversaryReach& reach) const {
  if (reach.nodes.contains(flows_[flow]->plan().source)) return true;
  return std::any_of(path.begin(), path.end(), [&](const Hop& hop) {
    if (reach.cables.contains(hop.cable)) return true;
    for (std::size_t node = 0; node < ground_.nodes.size(); ++node) {
      if (SimtestGround::name(node) == hop.to_node) return reach.nodes.contains(node);
    }
    return true;
  });
}

void UnreachedFlows::circuit_failed(const FailedCircuit& circuit, const AdversaryReach& reach) {
  const SimtestFlow& flow = *flows_[circuit.flow];
  if (has_too_large_message(flow.plan()) || is_closed(flow.attempt())) return;
  if (is_reached(circuit.flow, circuit.path, reach)) {
    watches_[circuit.flow].is_reached = true;
    return;
  }
  ground_.rules.broken(
      rule_, absl::StrCat("a circuit of flow ", circuit.flow, " ends although only ", cause_, ": ", circuit.reason));
}

// Whether a circuit of the flow is reached, or it has none that both ends have. A flow that has left all of its
// circuits by itself is as before.
bool UnreachedFlows::is_reached_now(std::size_t flow, const AdversaryReach& reach) const {
  const FlowAttempt* const attempt = flows_[flow]->attempt();
  if (attempt == nullptr || attempt->destination() == nullptr) return true;
  const auto paths = attempt->source().live_paths();
  if (paths.empty()) return watches_[flow].is_reached || is_closed(attempt);
  return std::any_of(paths.begin(), paths.end(), [&](const auto& each) {
    return !attempt->destination()->is_live(each.first) || is_reached(flow, *each.second, reach);
  });
}

void UnreachedFlows::check(const AdversaryReach& reach) {
  const Instant now = ground_.clock().now();
  for (std::size_t flow = 0; flow < flows_.size(); ++flow) {
    Watch& watch = watches_[flow];
    const FlowProgress progress = progress_of(*flows_[flow]);
    const bool is_new = flows_[flow]->attempts() != std::exchange(watch.attempt, flows_[flow]->attempts());
    watch.is_reached = is_new || is_reached_now(flow, reach);
    const bool moves = progress != std::exchange(watch.progress, progress);
    if (moves || watch.is_reached || progress.message == SIZE_MAX) watch.since = now;
    if (now - watch.since <= Duration(kLongestPause)) continue;
    ground_.rules.broken(
        rule_, absl::StrCat("flow ", flow, " stalls for ",
                            std::chrono::duration_cast<std::chrono::milliseconds>(now - watch.since).count(),
                            " ms although only ", cause_, ": message ", progress.message, " has ", progress.landed,
                            " of ", flows_[flow]->plan().messages[progress.message].bytes, " bytes"));
  }
}

}  // namespace cableway::sim
