#include "sim/flow_model/max_min_shares.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace cableway::sim {

// Groups the flows by resource, with a counting sort.
void MaxMinShares::list_flows(const FlowPaths& paths, std::size_t resource_count, std::span<const FlowIndex> active) {
  begin_.assign(resource_count + 1, 0);
  for (const FlowIndex flow : active) {
    for (const ResourceIndex resource : paths.of(flow)) ++begin_[resource + 1];
  }
  growing_.assign(begin_.begin() + 1, begin_.end());
  for (std::size_t resource = 0; resource < resource_count; ++resource) begin_[resource + 1] += begin_[resource];
  flows_.resize(begin_[resource_count]);
  for (const FlowIndex flow : active) {
    for (const ResourceIndex resource : paths.of(flow)) flows_[begin_[resource]++] = flow;
  }
  // Every start offset has moved to the end of its range, which is the start of the next one.
  std::copy_backward(begin_.begin(), begin_.end() - 1, begin_.end());
  begin_[0] = 0;
}

void MaxMinShares::start_filling(std::span<const double> capacity) {
  left_.assign(capacity.begin(), capacity.end());
  heap_.clear();
  for (ResourceIndex resource = 0; resource < capacity.size(); ++resource) {
    if (growing_[resource] > 0) heap_.emplace_back(capacity[resource] / growing_[resource], resource);
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void MaxMinShares::freeze(const FlowPaths& paths, ResourceIndex full, double rate) {
  for (std::uint32_t i = begin_[full]; i < begin_[full + 1]; ++i) {
    const FlowIndex flow = flows_[i];
    if (frozen_[flow]) continue;
    frozen_[flow] = true;
    rates_[flow] = rate;
    bottlenecks_[flow] = full;
    for (const ResourceIndex resource : paths.of(flow)) {
      left_[resource] -= rate;
      --growing_[resource];
    }
  }
}

void MaxMinShares::compute(const FlowPaths& paths, std::span<const double> capacity,
                           std::span<const FlowIndex> active) {
  rates_.resize(paths.flow_count());
  bottlenecks_.resize(paths.flow_count());
  frozen_.resize(paths.flow_count());
  for (const FlowIndex flow : active) {
    rates_[flow] = std::numeric_limits<double>::infinity();
    bottlenecks_[flow] = kNoBottleneck;
    frozen_[flow] = false;
  }
  list_flows(paths, capacity.size(), active);
  start_filling(capacity);
  double level = 0;
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [expected, resource] = heap_.back();
    heap_.pop_back();
    if (growing_[resource] == 0) continue;
    // Flows frozen since then leave more to the others, so a resource fills up later than estimated, never earlier;
    // contrary results are rounding errors and are ignored.
    const double rate = std::max(level, left_[resource] / growing_[resource]);
    if (rate > expected && !heap_.empty() && rate > heap_.front().first) {
      heap_.emplace_back(rate, resource);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      continue;
    }
    level = rate;
    freeze(paths, resource, rate);
  }
}

void MaxMinShares::compute(const FlowPaths& paths, std::span<const double> capacity) {
  everything_.resize(paths.flow_count());
  std::iota(everything_.begin(), everything_.end(), FlowIndex{0});
  compute(paths, capacity, everything_);
}

}  // namespace cableway::sim
