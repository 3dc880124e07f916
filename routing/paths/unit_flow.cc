#include "routing/paths/unit_flow.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace cableway::routing {
namespace {

constexpr ArcCost kUnreachedCost = {.penalty = std::numeric_limits<std::int64_t>::max()};

}  // namespace

void UnitFlow::add_arc(std::size_t from, std::size_t to, ArcCost cost, std::optional<CableIndex> label) {
  append(from, {cost, static_cast<Index>(to), kNone, label, true});
  append(to, {ArcCost{} - cost, static_cast<Index>(from), kNone, std::nullopt, false});
}

void UnitFlow::append(std::size_t from, Arc arc) {
  ArcList& list = arcs_of_[from];
  const auto place = static_cast<Index>(arcs_.size());
  (list.last == kNone ? list.first : arcs_[list.last].next) = place;
  list.last = place;
  arcs_.push_back(arc);
}

bool UnitFlow::push_one() {
  std::vector<ArcCost> distance(arcs_of_.size(), kUnreachedCost);
  std::vector<Index> last_arc(arcs_of_.size(), kNone);
  search(distance, last_arc);
  if (distance[sink_] == kUnreachedCost) return false;
  for (std::size_t vertex = 0; vertex < potential_.size(); ++vertex) {
    potential_[vertex] = potential_[vertex] + std::min(distance[vertex], distance[sink_]);
  }
  for (Index vertex = sink_; vertex != source_;) {
    const Index arc = last_arc[vertex];
    arcs_[arc].is_open = false;
    arcs_[opposite(arc)].is_open = true;
    vertex = arcs_[opposite(arc)].to;
  }
  return true;
}

std::vector<CableIndex> UnitFlow::take_one() {
  std::vector<CableIndex> labels;
  for (Index vertex = source_; vertex != sink_;) {
    Index arc = arcs_of_[vertex].first;
    while (!is_forward(arc) || arcs_[arc].is_open) arc = arcs_[arc].next;
    arcs_[arc].is_open = true;
    if (arcs_[arc].label) labels.push_back(*arcs_[arc].label);
    vertex = arcs_[arc].to;
  }
  return labels;
}

// Dijkstra's algorithm; the potentials keep costs from being negative (D. B. Johnson, 1977).
void UnitFlow::search(std::vector<ArcCost>& distance, std::vector<Index>& last_arc) const {
  using Entry = std::tuple<ArcCost, Index>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distance[source_] = {};
  queue.emplace(ArcCost{}, source_);
  while (!queue.empty()) {
    const auto [cost, vertex] = queue.top();
    queue.pop();
    if (cost > distance[vertex]) continue;
    if (vertex == sink_) return;  // the remaining vertices are farther; push_one() does not need their distances
    for (Index arc = arcs_of_[vertex].first; arc != kNone; arc = arcs_[arc].next) {
      if (!arcs_[arc].is_open) continue;
      const Index next = arcs_[arc].to;
      const ArcCost through = cost + arcs_[arc].cost + potential_[vertex] - potential_[next];
      if (through >= distance[next]) continue;
      distance[next] = through;
      last_arc[next] = arc;
      queue.emplace(through, next);
    }
  }
}

}  // namespace cableway::routing
