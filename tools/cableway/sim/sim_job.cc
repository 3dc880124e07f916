#include "tools/cableway/sim/sim_job.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "routing/placement/rank_placement.h"
#include "routing/text/node_name.h"
#include "routing/topology/short_cable_names.h"
#include "tools/cableway/text/named_file.h"

namespace cableway::cli {
namespace {

using routing::CableIndex;
using routing::NodeIndex;
using routing::Topology;

// Bytes per packet: IP and TCP headers within the MTU, and Ethernet's overhead outside it.
constexpr int kHeadersInMtu = 52;
constexpr int kHeadersOnWire = 66;

// By its name, or by its index among all nodes.
std::optional<NodeIndex> find_node(const Topology& topology, std::string_view text) {
  if (const std::optional<NodeIndex> node = topology.find_node(text)) return node;
  std::uint32_t place = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place);
  if (error != std::errc() || end != text.data() + text.size() || place >= topology.node_count()) return std::nullopt;
  return NodeIndex{place};
}

absl::Status no_such_node(const Topology& topology, std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("--rank-order: the topology has no node ", routing::in_quotes(text),
                                                 "; expected a name from ", topology.nodes().front().name, " to ",
                                                 topology.nodes().back().name, ", or a number from 0 to ",
                                                 topology.node_count() - 1));
}

std::vector<NodeIndex> all_nodes(const Topology& topology) {
  std::vector<NodeIndex> nodes;
  nodes.reserve(topology.node_count());
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) nodes.push_back(NodeIndex{i});
  return nodes;
}

absl::StatusOr<workload::Mix> read_mix(const std::string& path) {
  const absl::StatusOr<std::string> text = read_named_file(path, workload::kMaxMixFileBytes + 1);
  if (!text.ok()) return text.status();
  return workload::parse_mix(*text, path);
}

absl::StatusOr<CableIndex> only_cable(const routing::ShortCableNames& names, std::span<const routing::Adjacency> cables,
                                      const std::string& text) {
  if (cables.size() == 1) return cables.front().cable;
  return absl::InvalidArgumentError(
      absl::StrCat("--fail: ", cables.size(), " cables join ", text, "; expected the name of one of them: ",
                   absl::StrJoin(cables, ", ", [&](std::string* out, const routing::Adjacency& each) {
                     absl::StrAppend(out, names.of(each.cable));
                   })));
}

}  // namespace

absl::Status check_fit(const sim::PredictionRequest& request) {
  const absl::StatusOr<std::vector<workload::MixGroup>> groups = sim::groups_of(request);
  if (!groups.ok()) return groups.status();
  for (const workload::MixGroup& group : *groups) {
    const absl::Status fits = workload::check_ranks(group.workload.workload, static_cast<int>(group.ranks.size()));
    if (!fits.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(group.name.empty() ? "" : absl::StrCat("group ", group.name, ": "), fits.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NodeIndex>> find_ranks(const Topology& topology, const std::string& order) {
  if (order.empty()) return all_nodes(topology);
  if (order == "best") {
    absl::StatusOr<routing::RankPlacement> placement = routing::place_ranks(topology, all_nodes(topology));
    if (!placement.ok()) return placement.status();
    return std::move(placement->order);
  }
  std::vector<NodeIndex> ranks;
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(order, ','))) {
    const std::optional<NodeIndex> node = find_node(topology, text);
    if (!node) return no_such_node(topology, text);
    if (ranks.size() == static_cast<std::size_t>(workload::kMaxRanks)) {
      return absl::InvalidArgumentError(absl::StrCat("--rank-order: expected at most ", workload::kMaxRanks, " ranks"));
    }
    ranks.push_back(*node);
  }
  return ranks;
}

// Node names may contain hyphens, so every hyphen is tried as the separator.
absl::StatusOr<CableIndex> find_failing_cable(const Topology& topology, const std::string& text) {
  if (const std::optional<CableIndex> cable = topology.find_cable(text)) return *cable;
  const routing::ShortCableNames names(topology);
  if (absl::StrContains(text, '#')) {
    const absl::StatusOr<const routing::Cable*> found = names.find(text);
    if (const auto cable = found.ok() ? topology.find_cable((*found)->name) : std::nullopt) return *cable;
  }
  for (std::size_t hyphen = text.find('-'); hyphen != std::string::npos; hyphen = text.find('-', hyphen + 1)) {
    const std::optional<NodeIndex> a = find_node(topology, std::string_view(text).substr(0, hyphen));
    const std::optional<NodeIndex> b = find_node(topology, std::string_view(text).substr(hyphen + 1));
    if (!a || !b) continue;
    if (const auto cables = topology.cables_between(*a, *b); !cables.empty()) {
      return only_cable(names, cables, text);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--fail: the topology has no cable ", routing::in_quotes(text),
                   "; expected the name of a cable or two nodes that share one, as in ",
                   topology.cable_count() == 0 ? "c0" : names.of(topology.cables().front()), " or 0-1"));
}

absl::StatusOr<sim::PredictionRequest> make_request(const SimOptions& options, const SimPlan& plan,
                                                    const Topology& topology) {
  sim::PredictionRequest request;
  absl::StatusOr<std::vector<NodeIndex>> ranks = find_ranks(topology, options.rank_order);
  if (!ranks.ok()) return ranks.status();
  request.ranks = *std::move(ranks);
  if (plan.workload) {
    request.workload = plan.workload->workload;
    request.size = plan.workload->size;
  } else {
    absl::StatusOr<workload::Mix> mix = read_mix(options.mix);
    if (!mix.ok()) return mix.status();
    request.mix = *std::move(mix);
  }
  request.channels = options.channels;
  request.collective.operations = static_cast<std::uint64_t>(options.repeat);
  request.circuits.chunk_bytes = plan.chunk_bytes;
  request.circuits.shares = plan.shares;
  request.settled = plan.settled;
  request.circuits.wire.packet_payload = static_cast<std::uint32_t>(options.mtu - kHeadersInMtu);
  request.circuits.wire.packet_overhead = kHeadersOnWire;
  request.circuits.relay.leases = static_cast<std::size_t>(options.leases);
  request.circuits.relay.chunk_time = Duration(static_cast<Duration::rep>(options.relay_time_us * 1000));
  for (const FailSpec& failure : plan.failures) {
    const absl::StatusOr<CableIndex> cable = find_failing_cable(topology, failure.cable);
    if (!cable.ok()) return cable.status();
    request.cuts.push_back({*cable, failure.when});
  }
  return request;
}

}  // namespace cableway::cli
