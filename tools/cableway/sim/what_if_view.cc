#include "tools/cableway/sim/what_if_view.h"

#include <algorithm>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "routing/text/json_schema.h"
#include "tools/cableway/sim/sim_report.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

using sim::AllToAllShares;
using sim::FailureCase;

constexpr std::size_t kCasesShown = 10;

std::vector<FailureCase> worst_first(std::vector<FailureCase> cases) {
  std::stable_sort(cases.begin(), cases.end(), [](const FailureCase& left, const FailureCase& right) {
    return sim::is_better(right.shares, left.shares);
  });
  return cases;
}

bool has_two_cable_cases(const WhatIf& what_if) {
  return what_if.failures.cables.size() < 2 || !what_if.failures.two_cables.empty();
}

// A shared connector or root is named with its node, a cable or wire by its cables.
struct HottestName {
  const char* kind = "cable";
  std::string name;
  const char* direction = nullptr;  // of a connector or root: out of the node, or in
};

// Precondition: shares.hottest is set.
HottestName hottest_name(const WhatIf& what_if, const AllToAllShares& shares, const routing::ShortCableNames* names) {
  using Resource = sim::ResourceKind;
  const routing::Topology& topology = what_if.topology;
  const routing::PhysicalCables& physical = what_if.failures.physical;
  const routing::CableIndex cable = shares.hottest->cable;
  const routing::PhysicalCable& wire = physical.cables[physical.place_of_cable[cable.value]];
  const auto name_of = [&](routing::CableIndex each) {
    return names == nullptr ? topology.cable(each).name : names->of(each);
  };
  const Resource kind = shares.hottest_kind;
  const bool sends = kind == Resource::kSendingConnector || kind == Resource::kSendingRoot;
  const bool at_a = sends == shares.hottest->from_a;
  const char* const direction = sends ? "out" : "in";
  switch (kind) {
    case Resource::kCable:
      return {"cable", name_of(cable), nullptr};
    case Resource::kWire:
      return {
          "wire",
          absl::StrJoin(wire.cables, "=", [&](std::string* out, routing::CableIndex each) { *out += name_of(each); }),
          nullptr};
    case Resource::kSendingConnector:
    case Resource::kReceivingConnector: {
      const std::size_t place = *(at_a ? wire.shared_at_a : wire.shared_at_b);
      return {"connector", routing::connector_name(topology, physical, physical.connectors[place]), direction};
    }
    case Resource::kSendingRoot:
    case Resource::kReceivingRoot:
      break;
  }
  const routing::CableRoots& roots = physical.roots_of_cable[cable.value];
  return {"root", routing::root_name(topology, physical.roots[*(at_a ? roots.at_a : roots.at_b)]), direction};
}

std::string hottest_text(const WhatIf& what_if, const AllToAllShares& shares, const routing::ShortCableNames& names) {
  if (!shares.hottest) return "-";
  const HottestName hottest = hottest_name(what_if, shares, &names);
  if (hottest.direction != nullptr) return absl::StrCat(hottest.name, ", ", hottest.direction);
  return absl::StrCat(hottest.name, " ",
                      direction_text(what_if.topology, shares.hottest->cable, shares.hottest->from_a));
}

std::string change_text(double now, double before) {
  return before > 0 ? absl::StrFormat("%+.1f %%", 100 * (now / before - 1)) : "-";
}

// Nodes that are cut off before any failure.
std::string parts_text(const WhatIf& what_if) {
  const AllToAllShares& intact = what_if.failures.intact;
  if (intact.pairs_cut == 0) return "";
  const std::string why = what_if.failures.parts > 1
                              ? absl::StrCat("the cluster is in ", what_if.failures.parts, " parts already")
                              : "draining nodes relay nothing";
  return absl::StrCat("cut off   ", why, ": ", intact.pairs_cut, " of ", intact.pairs_cut + intact.pairs,
                      " ordered pairs of nodes have no path, and are not counted below\n");
}

std::string shares_text(const AllToAllShares& shares) {
  return absl::StrCat("slowest pair ", throughput_text(shares.least_rate), ", all together ",
                      throughput_text(shares.total_rate));
}

// Shared connectors, cables and nodes whose failure disconnects other nodes.
std::vector<std::string> single_points(const WhatIf& what_if, const routing::ShortCableNames* cables) {
  const routing::PhysicalCables& physical = what_if.failures.physical;
  const routing::WeakPoints& weak = what_if.failures.weak;
  std::vector<std::string> names;
  for (const routing::NodeIndex node : weak.nodes) {
    names.push_back(absl::StrCat("node ", what_if.topology.node(node).name));
  }
  for (const std::size_t cable : weak.cables) {
    FailureCase failure;
    failure.cable = static_cast<std::uint32_t>(cable);
    names.push_back(sim::describe(what_if.topology, physical, failure, cables));
  }
  for (const std::size_t connector : weak.connectors) {
    names.push_back(absl::StrCat("connector ",
                                 routing::connector_name(what_if.topology, physical, physical.connectors[connector])));
  }
  return names;
}

std::string cases_text(const WhatIf& what_if, const char* heading, const std::vector<FailureCase>& cases,
                       const routing::ShortCableNames& names, bool all) {
  if (cases.empty()) return "";
  const auto cut =
      std::count_if(cases.begin(), cases.end(), [](const FailureCase& each) { return each.shares.pairs_cut > 0; });
  TextTable table({{"failed", TextTable::Align::kLeft, TextTable::Fit::kCutMiddle},
                   {"pairs cut", TextTable::Align::kRight},
                   {"slowest pair", TextTable::Align::kRight},
                   {"change", TextTable::Align::kRight},
                   {"all together", TextTable::Align::kRight},
                   {"change", TextTable::Align::kRight},
                   {"hottest then", TextTable::Align::kLeft, TextTable::Fit::kCutMiddle}});
  const std::size_t shown = all ? cases.size() : std::min(cases.size(), kCasesShown);
  const std::vector<FailureCase> sorted = worst_first(cases);
  for (const FailureCase& each : std::span(sorted).first(shown)) {
    table.add_row({sim::describe(what_if.topology, what_if.failures.physical, each, &names),
                   absl::StrCat(each.shares.pairs_cut), throughput_text(each.shares.least_rate),
                   change_text(each.shares.least_rate, each.least_rate_before), throughput_text(each.shares.total_rate),
                   change_text(each.shares.total_rate, each.total_rate_before),
                   hottest_text(what_if, each.shares, names)});
  }
  return absl::StrCat("\n", heading, ": ", cases.size(), cases.size() == 1 ? " case, " : " cases, ", cut,
                      cut == 1 ? " cuts nodes off; worst first\n" : " cut nodes off; worst first\n", table.text(),
                      shown < cases.size() ? absl::StrCat("and ", cases.size() - shown, " more: --all\n") : "");
}

std::uint64_t pairs_joined(const WhatIf& what_if, const sim::AddedCable& added) {
  return what_if.added.intact.pairs_cut - added.shares.pairs_cut;
}

std::string added_text(const WhatIf& what_if) {
  const sim::AddedCableReport& added = what_if.added;
  if (added.best.empty()) return "\none more cable: every two nodes already share one\n";
  TextTable table({{"between"},
                   {"pairs joined", TextTable::Align::kRight},
                   {"slowest pair", TextTable::Align::kRight},
                   {"change", TextTable::Align::kRight},
                   {"all together", TextTable::Align::kRight},
                   {"change", TextTable::Align::kRight}});
  for (const sim::AddedCable& each : added.best) {
    // The shares are comparable only if no pair was joined.
    const std::uint64_t joined = pairs_joined(what_if, each);
    const auto change = [&](double now, double before) { return joined > 0 ? "-" : change_text(now, before); };
    table.add_row({absl::StrCat(what_if.topology.node(each.a).name, " - ", what_if.topology.node(each.b).name),
                   absl::StrCat(joined), throughput_text(each.shares.least_rate),
                   change(each.shares.least_rate, added.intact.least_rate), throughput_text(each.shares.total_rate),
                   change(each.shares.total_rate, added.intact.total_rate)});
  }
  const bool behind_roots =
      std::any_of(added.best.begin(), added.best.end(), [](const sim::AddedCable& each) { return each.behind_roots; });
  return absl::StrCat(
      "\none more cable of ", rate_text(added.rate_mbps), ": ",
      sim::helps(added)
          ? absl::StrCat("the best of ", added.candidates, " places for it, best first\n")
          : absl::StrCat("none of ", added.candidates, " places for it would help an all_to_all; best first\n"),
      table.text(),
      behind_roots ? "assumed behind the PCIe links that its hosts have, with as many functions as their plugs\n" : "");
}

Json shares_json(const WhatIf& what_if, const AllToAllShares& shares) {
  Json hottest = nullptr;
  if (shares.hottest) {
    const routing::Cable& cable = what_if.topology.cable(shares.hottest->cable);
    const std::string& a = what_if.topology.node(cable.a.node).name;
    const std::string& b = what_if.topology.node(cable.b.node).name;
    const HottestName named = hottest_name(what_if, shares, nullptr);
    hottest = {{"kind", named.kind},
               {"name", named.name},
               {"cable", cable.name},
               {"from", shares.hottest->from_a ? a : b},
               {"to", shares.hottest->from_a ? b : a}};
  }
  return {{"pairs", shares.pairs},
          {"pairs_cut", shares.pairs_cut},
          {"slowest_pair_GBps", shares.least_rate / 1e9},
          {"total_GBps", shares.total_rate / 1e9},
          {"hottest", hottest}};
}

Json failed_json(const WhatIf& what_if, const FailureCase& failure) {
  Json cables = Json::array();
  const auto add = [&](std::uint32_t place) {
    for (const routing::CableIndex cable : what_if.failures.physical.cables[place].cables) {
      cables.push_back(what_if.topology.cable(cable).name);
    }
  };
  Json json;
  if (failure.kind == FailureCase::Kind::kNode) {
    json["node"] = what_if.topology.node(failure.node).name;
  } else {
    add(failure.cable);
    if (failure.kind == FailureCase::Kind::kTwoCables) add(failure.second_cable);
    json["cables"] = cables;
  }
  json.update(shares_json(what_if, failure.shares));
  json.update({{"slowest_pair_before_GBps", failure.least_rate_before / 1e9},
               {"total_before_GBps", failure.total_rate_before / 1e9}});
  return json;
}

Json cases_json(const WhatIf& what_if, const std::vector<FailureCase>& cases) {
  Json list = Json::array();
  for (const FailureCase& each : cases) list.push_back(failed_json(what_if, each));
  return list;
}

}  // namespace

std::string what_if_text(const WhatIf& what_if, bool all) {
  const routing::ShortCableNames names(what_if.topology);
  const std::vector<std::string> points = single_points(what_if, &names);
  return absl::StrCat(
      "topology  ", what_if.source, ": ", topology_summary(what_if.topology), "\n", "intact    all_to_all, ",
      sim::kFlowsPerPair, " flows for each pair of nodes: ", shares_text(what_if.failures.intact), ", hottest ",
      hottest_text(what_if, what_if.failures.intact, names), "\n", parts_text(what_if),
      "single points of failure: ", points.empty() ? "none" : absl::StrJoin(points, ", "), "\n",
      cases_text(what_if, "one cable fails", what_if.failures.cables, names, all),
      cases_text(what_if, "one node fails", what_if.failures.nodes, names, all),
      has_two_cable_cases(what_if) ? cases_text(what_if, "two cables fail", what_if.failures.two_cables, names, all)
                                   : "\ntwo cables fail: skipped, there are too many cases\n",
      added_text(what_if), "\nsimulated in ", seconds_text(what_if.elapsed_s), "\n");
}

std::string what_if_json(const WhatIf& what_if) {
  Json added = Json::array();
  for (const sim::AddedCable& each : what_if.added.best) {
    added.push_back({{"a", what_if.topology.node(each.a).name},
                     {"b", what_if.topology.node(each.b).name},
                     {"functions", each.functions},
                     {"behind_roots", each.behind_roots},
                     {"pairs_joined", pairs_joined(what_if, each)},
                     {"slowest_pair_GBps", each.shares.least_rate / 1e9},
                     {"total_GBps", each.shares.total_rate / 1e9}});
  }
  const Json view = {
      {routing::kSchemaMember, routing::kJsonSchema},
      {"topology", what_if.source},
      {"parts", what_if.failures.parts},
      {"flows_per_pair", sim::kFlowsPerPair},
      {"intact", shares_json(what_if, what_if.failures.intact)},
      {"single_points_of_failure", single_points(what_if, nullptr)},
      {"one_cable", cases_json(what_if, what_if.failures.cables)},
      {"two_cables", has_two_cable_cases(what_if) ? cases_json(what_if, what_if.failures.two_cables) : Json()},
      {"one_node", cases_json(what_if, what_if.failures.nodes)},
      {"added_cable_mbps", what_if.added.rate_mbps},
      {"added_cable_helps", sim::helps(what_if.added)},
      {"added_cables", added},
      {"elapsed_s", what_if.elapsed_s}};
  return view.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cableway::cli
