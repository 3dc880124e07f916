// The long-term rates of flows that share cables, when no flow can gain without taking from one that has less.
//
// Max-min fair rates by progressive filling (D. Bertsekas and R. Gallager, "Data Networks", 2nd ed., 1992, 6.5.2): all
// rates grow equally until a resource is full; its flows keep their rates, and the others continue to grow.
#ifndef CABLEWAY_SIM_FLOW_MODEL_MAX_MIN_SHARES_H_
#define CABLEWAY_SIM_FLOW_MODEL_MAX_MIN_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/flow_model/cable_resources.h"

namespace cableway::sim {

using FlowIndex = std::uint32_t;

// The resources that each flow uses, as concatenated lists.
class FlowPaths {
 public:
  std::size_t flow_count() const { return begin_.size() - 1; }
  std::span<const ResourceIndex> of(FlowIndex flow) const {
    return std::span(resources_).subspan(begin_[flow], begin_[flow + 1] - begin_[flow]);
  }
  // All lists concatenated.
  std::span<const ResourceIndex> all() const { return resources_; }

  FlowIndex add(std::span<const ResourceIndex> resources) {
    resources_.insert(resources_.end(), resources.begin(), resources.end());
    begin_.push_back(static_cast<std::uint32_t>(resources_.size()));
    return static_cast<FlowIndex>(begin_.size() - 2);
  }

  friend bool operator==(const FlowPaths&, const FlowPaths&) = default;

 private:
  std::vector<std::uint32_t> begin_ = {0};
  std::vector<ResourceIndex> resources_;
};

inline constexpr ResourceIndex kNoBottleneck = std::numeric_limits<ResourceIndex>::max();

// Reuses its memory between computations. Not thread-safe.
class MaxMinShares {
 public:
  // For the flows `active` of `paths`, or for all of them. O(length of the paths + resources * log resources) if few
  // resources fill up at nearly the same rate. Precondition: every resource has a capacity, 0 or more.
  void compute(const FlowPaths& paths, std::span<const double> capacity, std::span<const FlowIndex> active);
  void compute(const FlowPaths& paths, std::span<const double> capacity);

  // By flow, in the capacity's unit; entries of inactive flows keep their previous value. Infinite for a flow that uses
  // no resource.
  std::span<const double> rates() const { return rates_; }
  // By flow: the resource that filled up first; kNoBottleneck for a flow that uses none.
  std::span<const ResourceIndex> bottlenecks() const { return bottlenecks_; }

 private:
  using Filling = std::pair<double, ResourceIndex>;  // when it is full, if nothing changes

  void list_flows(const FlowPaths& paths, std::size_t resource_count, std::span<const FlowIndex> active);
  void start_filling(std::span<const double> capacity);
  void freeze(const FlowPaths& paths, ResourceIndex full, double rate);

  std::vector<double> rates_;
  std::vector<ResourceIndex> bottlenecks_;
  std::vector<bool> frozen_;          // by flow
  std::vector<std::uint32_t> begin_;  // by resource, plus an end: offsets into flows_
  std::vector<FlowIndex> flows_;
  std::vector<double> left_;            // by resource: capacity not used by frozen flows
  std::vector<std::uint32_t> growing_;  // by resource: number of flows that still grow
  std::vector<Filling> heap_;
  std::vector<FlowIndex> everything_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_MAX_MIN_SHARES_H_
