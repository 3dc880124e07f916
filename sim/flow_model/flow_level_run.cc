#include "sim/flow_model/flow_level_run.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/paths/route_table.h"
#include "sim/cable/cable_latency.h"
#include "sim/flow_model/max_min_shares.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;
using routing::Topology;

constexpr double kNever = std::numeric_limits<double>::infinity();

class FlowLevelRun {
 public:
  FlowLevelRun(const Topology& topology, std::span<const Transfer> transfers, const FlowLevelSettings& settings)
      : topology_(topology),
        transfers_(transfers),
        settings_(settings),
        resources_(topology),
        waiting_(transfers.size(), 0),
        latency_s_(transfers.size(), 0),
        left_(transfers.size()) {
    result_.done_s.assign(transfers.size(), kNever);
    result_.cables.resize(topology.cable_count());
  }

  absl::StatusOr<FlowLevelResult> run();

 private:
  absl::Status list_dependents();
  absl::Status choose_paths();
  void start(FlowIndex transfer);
  void let_start();
  void advance();
  void finish_senders(double within_s);
  void arrive(FlowIndex transfer);
  void find_hottest();

  const Topology& topology_;
  const std::span<const Transfer> transfers_;
  const FlowLevelSettings settings_;
  const CableResources resources_;
  FlowPaths paths_;
  MaxMinShares shares_;
  std::vector<std::uint32_t> waiting_;          // by transfer: number of transfers that it waits for
  std::vector<std::uint32_t> first_dependent_;  // by transfer, plus an end: offsets into dependents_
  std::vector<FlowIndex> dependents_;
  std::vector<double> latency_s_;  // by transfer
  std::vector<double> left_;       // by transfer: bytes to send
  std::vector<FlowIndex> ready_;   // ready but not started
  std::vector<FlowIndex> sending_;
  bool rates_hold_ = true;
  using Arrival = std::pair<double, FlowIndex>;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arriving_;
  double now_s_ = 0;
  std::size_t done_ = 0;  // transfers
  FlowLevelResult result_;
};

absl::Status FlowLevelRun::list_dependents() {
  first_dependent_.assign(transfers_.size() + 1, 0);
  for (FlowIndex i = 0; i < transfers_.size(); ++i) {
    for (const std::uint32_t earlier : transfers_[i].after) {
      if (earlier >= transfers_.size()) {
        return absl::InvalidArgumentError(absl::StrCat("transfer ", i, " waits for transfer ", earlier,
                                                       ", and there are ", transfers_.size(),
                                                       "; expected the index of one of them"));
      }
      ++first_dependent_[earlier + 1];
    }
    waiting_[i] = static_cast<std::uint32_t>(transfers_[i].after.size());
    if (waiting_[i] == 0) ready_.push_back(i);
  }
  for (std::size_t i = 0; i < transfers_.size(); ++i) first_dependent_[i + 1] += first_dependent_[i];
  dependents_.resize(first_dependent_.back());
  std::vector<std::uint32_t> next(first_dependent_.begin(), first_dependent_.end() - 1);
  for (FlowIndex i = 0; i < transfers_.size(); ++i) {
    for (const std::uint32_t earlier : transfers_[i].after) dependents_[next[earlier]++] = i;
  }
  return absl::OkStatus();
}

absl::Status FlowLevelRun::choose_paths() {
  const std::shared_ptr<const routing::CableParts> parts = routing::CableParts::find(topology_);
  std::vector<std::optional<routing::RouteTable>> tables(topology_.node_count());
  std::vector<ResourceIndex> used;
  for (FlowIndex i = 0; i < transfers_.size(); ++i) {
    const Transfer& transfer = transfers_[i];
    std::optional<routing::RouteTable>& table = tables[transfer.source.value];
    if (!table) table = routing::compute_routes(topology_, parts, transfer.source);
    const routing::Path path = table->path_for_flow(transfer.destination, transfer.ordinal);
    if (!path.exists()) {
      return absl::UnavailableError(absl::StrCat("node ", topology_.node(transfer.source).name, " has no path to node ",
                                                 topology_.node(transfer.destination).name));
    }
    used.clear();
    resources_.append_path(path, used);
    paths_.add(used);
    for (std::size_t hop = 0; hop < path.hops(); ++hop) {
      const routing::CableIndex cable = path.cables[hop];
      latency_s_[i] += std::chrono::duration<double>(latency_of(topology_.cable(cable))).count();
      CableBytes& use = result_.cables[cable.value];
      (resources_.direction(cable, path.nodes[hop]).from_a ? use.bytes_from_a : use.bytes_from_b) += transfer.bytes;
    }
    left_[i] = static_cast<double>(transfer.bytes);
  }
  return absl::OkStatus();
}

void FlowLevelRun::start(FlowIndex transfer) {
  if (left_[transfer] > 0 && !paths_.of(transfer).empty()) {
    sending_.push_back(transfer);
    rates_hold_ = false;
  } else {
    arriving_.emplace(now_s_ + latency_s_[transfer], transfer);
  }
}

void FlowLevelRun::let_start() {
  for (const FlowIndex transfer : ready_) start(transfer);
  ready_.clear();
}

void FlowLevelRun::arrive(FlowIndex transfer) {
  ++done_;
  result_.done_s[transfer] = now_s_;
  result_.time_s = now_s_;
  for (std::uint32_t i = first_dependent_[transfer]; i < first_dependent_[transfer + 1]; ++i) {
    if (--waiting_[dependents_[i]] == 0) ready_.push_back(dependents_[i]);
  }
}

// Finishes sending for the transfers that need at most `within_s`.
void FlowLevelRun::finish_senders(double within_s) {
  const std::span<const double> rates = shares_.rates();
  std::erase_if(sending_, [&](FlowIndex transfer) {
    if (left_[transfer] > rates[transfer] * within_s) return false;
    arriving_.emplace(now_s_ + latency_s_[transfer], transfer);
    rates_hold_ = false;
    return true;
  });
}

// Advances to the next instant at which a transfer has been sent, or has arrived.
void FlowLevelRun::advance() {
  if (!rates_hold_) {
    shares_.compute(paths_, resources_.capacity(), sending_);
    ++result_.rate_changes;
    rates_hold_ = true;
  }
  const std::span<const double> rates = shares_.rates();
  double soonest_s = kNever;
  for (const FlowIndex transfer : sending_) soonest_s = std::min(soonest_s, left_[transfer] / rates[transfer]);
  const double arrival_s = arriving_.empty() ? kNever : arriving_.top().first - now_s_;
  const double passed_s = std::min(soonest_s, arrival_s);
  now_s_ = passed_s == arrival_s ? arriving_.top().first : now_s_ + passed_s;
  const double within_s = passed_s + settings_.coarseness * now_s_;
  if (soonest_s <= within_s) finish_senders(within_s);
  for (const FlowIndex transfer : sending_) left_[transfer] -= rates[transfer] * passed_s;
  while (!arriving_.empty() && arriving_.top().first <= now_s_) {
    const FlowIndex transfer = arriving_.top().second;
    arriving_.pop();
    arrive(transfer);
  }
}

void FlowLevelRun::find_hottest() {
  if (result_.time_s == 0) return;
  double busiest_s = 0;
  for (std::uint32_t cable = 0; cable < result_.cables.size(); ++cable) {
    for (const bool from_a : {true, false}) {
      const CableDirection direction{routing::CableIndex{cable}, from_a};
      const CableBytes& use = result_.cables[cable];
      const double busy_s = static_cast<double>(from_a ? use.bytes_from_a : use.bytes_from_b) /
                            resources_.capacity()[direction.resource()];
      if (busy_s <= busiest_s) continue;
      busiest_s = busy_s;
      result_.hottest = direction;
    }
  }
  result_.hottest_utilisation = busiest_s / result_.time_s;
}

absl::StatusOr<FlowLevelResult> FlowLevelRun::run() {
  if (absl::Status status = list_dependents(); !status.ok()) return status;
  if (absl::Status status = choose_paths(); !status.ok()) return status;
  let_start();
  while (!sending_.empty() || !arriving_.empty()) {
    advance();
    let_start();
    settings_.progress(done_, transfers_.size());
  }
  for (FlowIndex i = 0; i < transfers_.size(); ++i) {
    if (waiting_[i] == 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("transfer ", i, " waits for itself, through others; expected an order in which all can start"));
  }
  find_hottest();
  return std::move(result_);
}

}  // namespace

absl::StatusOr<FlowLevelResult> run_flow_level(const Topology& topology, std::span<const Transfer> transfers,
                                               const FlowLevelSettings& settings) {
  return FlowLevelRun(topology, transfers, settings).run();
}

}  // namespace cableway::sim
