#include "sim/prediction/settled_numbers.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "core/flow/circuit_load.h"
#include "core/flow_circuits/path_balance.h"

namespace cableway::sim {
namespace {

// Of a flow, as it moves: the numbers that are tried to find the one whose first path is the wanted one.
constexpr std::uint64_t kMostTurns = 16;
// Moves end by themselves; this bounds them where rounding makes a load look lower than it is.
constexpr int kMostRounds = 1000;

class Settlement {
 public:
  Settlement(const routing::Topology& topology, PathChooser& paths, const std::vector<FlowDemand>& demands)
      : topology_(topology), chooser_(paths), loads_(2 * topology.cable_count()) {
    std::map<std::pair<routing::NodeIndex, routing::NodeIndex>, std::uint64_t> counted;
    flows_.reserve(demands.size());
    for (const FlowDemand& demand : demands) {
      flows_.push_back({demand, counted[{demand.source, demand.destination}]++, {}});
      flows_.back().paths = paths_of(flows_.back(), flows_.back().number);
      put(flows_.back(), +1);
    }
    note_scale();
  }

  std::vector<std::uint64_t> run() {
    bool any = true;
    for (int round = 0; any && round < kMostRounds; ++round) {
      any = false;
      for (Flow& flow : flows_) any = move_if_it_gains(flow) || any;
    }
    std::vector<std::uint64_t> numbers;
    numbers.reserve(flows_.size());
    for (const Flow& flow : flows_) numbers.push_back(flow.number);
    return numbers;
  }

 private:
  struct Flow {
    FlowDemand demand;
    std::uint64_t number = 0;
    std::vector<FlowPath> paths;
  };

  std::vector<FlowPath> paths_of(const Flow& flow, std::uint64_t number) {
    const CircuitShare shares = flow.demand.may_move ? CircuitShare::kAlternate : CircuitShare::kNone;
    return chooser_.paths(flow.demand.source, flow.demand.destination, number, shares);
  }

  // The first path and its bundle carry the flow in equal parts.
  static bool carries(const Flow& flow, const FlowPath& path) {
    return &path == &flow.paths.front() || path.share == CircuitShare::kBundle;
  }

  template <typename Visit>
  void for_each_port(const routing::Path& path, Visit visit) {
    for (std::size_t i = 0; i < path.hops(); ++i) {
      const bool from_a = topology_.cable(path.cables[i]).a.node == path.nodes[i];
      visit(loads_[2ULL * path.cables[i].value + (from_a ? 0 : 1)]);
    }
  }

  void put(const Flow& flow, int sign) {
    if (flow.paths.empty()) return;
    const auto parts =
        std::count_if(flow.paths.begin(), flow.paths.end(), [&](const FlowPath& path) { return carries(flow, path); });
    const double part = sign * static_cast<double>(flow.demand.bytes) / static_cast<double>(parts);
    for (const FlowPath& path : flow.paths) {
      if (carries(flow, path)) for_each_port(path.path, [&](double& load) { load += part; });
    }
  }

  double busiest(const routing::Path& path) {
    double most = 0;
    for_each_port(path, [&](double& load) { most = std::max(most, load); });
    return most;
  }

  // Bytes become bytes per second as if the port with the greatest load were full.
  void note_scale() {
    const double most = loads_.empty() ? 0 : *std::max_element(loads_.begin(), loads_.end());
    if (most <= 0) return;
    std::uint64_t mbps = topology_.cable(routing::CableIndex{0}).rate_mbps;
    for (std::uint32_t i = 1; i < topology_.cable_count(); ++i) {
      mbps = std::max(mbps, topology_.cable(routing::CableIndex{i}).rate_mbps);
    }
    per_second_ = static_cast<double>(mbps) * 1e6 / 8 / most;
  }

  std::uint64_t rate(double bytes) const { return static_cast<std::uint64_t>(bytes * per_second_); }

  bool move_if_it_gains(Flow& flow) {
    const FlowPath* other = nullptr;
    double least = 0;
    for (const FlowPath& each : flow.paths) {
      if (carries(flow, each) || !each.equals_first) continue;
      const double load = busiest(each.path);
      if (other == nullptr || load < least) {
        other = &each;
        least = load;
      }
    }
    if (other == nullptr) return false;
    const CircuitLoad present{rate(busiest(flow.paths.front().path)), rate(static_cast<double>(flow.demand.bytes))};
    return PathBalance::gains(present, rate(least)) && move(flow, other->path);
  }

  bool move(Flow& flow, const routing::Path& path) {
    for (std::uint64_t number = flow.number + 1; number <= flow.number + kMostTurns; ++number) {
      std::vector<FlowPath> paths = paths_of(flow, number);
      if (paths.empty() || paths.front().path != path) continue;
      put(flow, -1);
      flow.number = number;
      flow.paths = std::move(paths);
      put(flow, +1);
      return true;
    }
    return false;
  }

  const routing::Topology& topology_;
  PathChooser& chooser_;
  std::vector<double> loads_;  // by cable, twice: from its a, from its b
  std::vector<Flow> flows_;
  double per_second_ = 1;
};

}  // namespace

std::vector<std::uint64_t> settled_numbers(const routing::Topology& topology, PathChooser& paths,
                                           const std::vector<FlowDemand>& flows) {
  return Settlement(topology, paths, flows).run();
}

}  // namespace cableway::sim
