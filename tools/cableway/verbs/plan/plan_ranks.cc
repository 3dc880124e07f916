#include "tools/cableway/verbs/plan/plan_ranks.h"

#include <optional>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/paths/route_table.h"
#include "routing/placement/rank_placement.h"
#include "routing/placement/ring_latency.h"
#include "routing/text/json_schema.h"
#include "routing/topology/short_cable_names.h"
#include "tools/cableway/node/node_by_name.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

using routing::NodeIndex;
using routing::PlacementCost;
using routing::RankPlacement;
using routing::Topology;

struct Plan {
  RankPlacement planned;
  std::optional<double> planned_us;  // the latency around the ring
  PlacementCost given;
  std::optional<double> given_us;
};

absl::StatusOr<Plan> make_plan(const Topology& topology, const std::vector<NodeIndex>& hosts) {
  const absl::StatusOr<PlacementCost> given = routing::placement_cost(topology, hosts);
  if (!given.ok()) return given.status();
  absl::StatusOr<RankPlacement> planned = routing::place_ranks(topology, hosts);
  if (!planned.ok()) return planned.status();
  const std::optional<double> planned_us = routing::ring_latency_us(topology, planned->order);
  return Plan{*std::move(planned), planned_us, *given, routing::ring_latency_us(topology, hosts)};
}

std::vector<std::string> names_of(const Topology& topology, std::span<const NodeIndex> nodes) {
  std::vector<std::string> names;
  for (const NodeIndex node : nodes) names.push_back(topology.node(node).name);
  return names;
}

std::string cost_text(const PlacementCost& cost, std::optional<double> latency_us) {
  return absl::StrCat(cost.relays, cost.relays == 1 ? " relay" : " relays", ", latency ",
                      latency_us ? seconds_text(*latency_us * 1e-6) : "-", " around the ring");
}

// "c0", "c0, c1", or "through n1, n2".
std::string way_text(const Topology& topology, const routing::ShortCableNames& names, NodeIndex from, NodeIndex to) {
  const auto cables = topology.cables_between(from, to);
  if (!cables.empty()) {
    return absl::StrJoin(cables, ", ", [&](std::string* out, const routing::Adjacency& each) {
      absl::StrAppend(out, names.of(each.cable));
    });
  }
  const routing::Path path = routing::compute_routes(topology, from).path_for_flow(to, 0);
  const std::span<const NodeIndex> between = std::span(path.nodes).subspan(1, path.nodes.size() - 2);
  return absl::StrCat("through ", absl::StrJoin(names_of(topology, between), ", "));
}

std::string ranks_table(const Topology& topology, const std::vector<NodeIndex>& order) {
  using Align = TextTable::Align;
  TextTable table({{"rank", Align::kRight}, {"node"}, {"to the next"}});
  const routing::ShortCableNames names(topology);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const NodeIndex next = order[(i + 1) % order.size()];
    table.add_row({absl::StrCat(i), topology.node(order[i]).name,
                   next == order[i] ? "" : way_text(topology, names, order[i], next)});
  }
  return table.text();
}

class PlanRanksVerb final : public Verb {
 public:
  Command describe() override {
    return {
        .name = "plan ranks",
        .summary =
            "an order of the job's nodes in which neighbours share cables, and its cost compared to the given order",
        .notes =
            "NCCL's rings connect each rank to the next, and the last to the first. Start the ranks in this order.",
        .examples = {"cableway plan ranks", "cableway plan ranks --hosts n0,n3,n1,n2",
                     "cableway plan ranks --file torus:4x4 --json | jq -r .planned.order[]"},
        .arguments = {json_flag(json_), topology_option(file_),
                      list_option("--hosts", "N0,N1,..", hosts_,
                                  "the job's nodes, in their current rank order; default: all nodes")
                          .that_names(Argument::Names::kNodes)}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, file_, invocation.surroundings.node_deadline);
    if (!known.ok()) return known.status();
    const absl::StatusOr<std::vector<NodeIndex>> hosts = hosts_in(known->topology);
    if (!hosts.ok()) return hosts.status();
    return as_answer(json_ ? rank_plan_json(known->topology, *hosts) : rank_plan_text(known->topology, *hosts));
  }

 private:
  absl::StatusOr<std::vector<NodeIndex>> hosts_in(const Topology& topology) const {
    std::vector<NodeIndex> hosts;
    for (const std::string& name : hosts_) {
      const absl::StatusOr<NodeIndex> host = node_by_name(topology, name);
      if (!host.ok()) return host.status();
      hosts.push_back(*host);
    }
    if (!hosts_.empty()) return hosts;
    for (std::uint32_t i = 0; i < topology.node_count(); ++i) hosts.push_back(NodeIndex{i});
    return hosts;
  }

  bool json_ = false;
  std::string file_;
  std::vector<std::string> hosts_;
};

}  // namespace

std::unique_ptr<Verb> plan_ranks_verb() {
  return std::make_unique<PlanRanksVerb>();
}

absl::StatusOr<std::string> rank_plan_text(const Topology& topology, const std::vector<NodeIndex>& hosts) {
  const absl::StatusOr<Plan> plan = make_plan(topology, hosts);
  if (!plan.ok()) return plan.status();
  const RankPlacement& planned = plan->planned;
  return absl::StrCat("hosts    ", absl::StrJoin(names_of(topology, planned.order), ","), "\ncost     ",
                      cost_text(planned.cost, plan->planned_us),
                      planned.is_best ? ": no order is better\n" : ": the best order found\n", "as given ",
                      absl::StrJoin(names_of(topology, hosts), ","), ": ", cost_text(plan->given, plan->given_us),
                      "\n\n", ranks_table(topology, planned.order));
}

absl::StatusOr<std::string> rank_plan_json(const Topology& topology, const std::vector<NodeIndex>& hosts) {
  const absl::StatusOr<Plan> plan = make_plan(topology, hosts);
  if (!plan.ok()) return plan.status();
  const Json view = {{routing::kSchemaMember, routing::kJsonSchema},
                     {"planned",
                      {{"order", names_of(topology, plan->planned.order)},
                       {"relays", plan->planned.cost.relays},
                       {"latency_us", number_or_null(plan->planned_us)},
                       {"proven", plan->planned.is_best}}},
                     {"given",
                      {{"order", names_of(topology, hosts)},
                       {"relays", plan->given.relays},
                       {"latency_us", number_or_null(plan->given_us)}}}};
  return view.dump(2) + "\n";
}

}  // namespace cableway::cli
