#include "tools/cableway/verbs/path.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/paths/path_latency.h"
#include "routing/paths/route_table.h"
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

using routing::RankedPath;
using routing::Topology;

struct Found {
  routing::Route route;
  std::size_t first = 0;            // index of flow 0's path
  std::vector<std::size_t> wanted;  // indexes in route.paths
};

std::size_t place_of(const routing::Route& route, const routing::Path& path) {
  const auto found = std::find_if(route.paths.begin(), route.paths.end(),
                                  [&](const RankedPath& ranked) { return ranked.path == path; });
  return static_cast<std::size_t>(found - route.paths.begin());
}

absl::StatusOr<Found> find_paths(const Topology& topology, const PathQuery& query) {
  const routing::RouteTable table = routing::compute_routes(topology, query.from);
  if (!table.reaches(query.to)) {
    return absl::UnavailableError(absl::StrCat("no path leads from node ", topology.node(query.from).name, " to node ",
                                               topology.node(query.to).name, "; see cableway topology"));
  }
  Found found;
  found.route = table.route_to(query.to);
  found.first = place_of(found.route, table.path_for_flow(query.to, 0));
  if (query.flow) {
    found.wanted = {place_of(found.route, table.path_for_flow(query.to, *query.flow))};
  } else {
    for (std::size_t i = 0; i < found.route.paths.size(); ++i) found.wanted.push_back(i);
  }
  return found;
}

std::string end_text(const Topology& topology, const routing::Port& port) {
  const std::string& node = topology.node(port.node).name;
  return port.interface.empty() ? node : absl::StrCat(node, " ", port.interface);
}

std::string hops_table(const Topology& topology, const routing::ShortCableNames& names, const routing::Path& path) {
  using Align = TextTable::Align;
  TextTable table({{"  hop", Align::kRight},
                   {"cable", Align::kLeft, TextTable::Fit::kCutMiddle},
                   {"from"},
                   {"address"},
                   {"to"},
                   {"address"},
                   {"rate", Align::kRight},
                   {"us", Align::kRight}});
  for (std::size_t i = 0; i < path.cables.size(); ++i) {
    const routing::Cable& cable = topology.cable(path.cables[i]);
    const routing::Port& from = topology.port_at(path.cables[i], path.nodes[i]);
    const routing::Port& to = topology.port_opposite(path.cables[i], path.nodes[i]);
    table.add_row({absl::StrCat(i + 1), names.of(cable), end_text(topology, from), from.address, end_text(topology, to),
                   to.address, rate_text(cable.rate_mbps), latency_cell(cable.latency_us)});
  }
  return table.text();
}

Json end_json(const Topology& topology, const routing::Port& port) {
  return {{"node", topology.node(port.node).name}, {"interface", port.interface}, {"address", port.address}};
}

Json hops_json(const Topology& topology, const routing::Path& path) {
  Json hops = Json::array();
  for (std::size_t i = 0; i < path.cables.size(); ++i) {
    const routing::Cable& cable = topology.cable(path.cables[i]);
    hops.push_back({{"cable", cable.name},
                    {"from", end_json(topology, topology.port_at(path.cables[i], path.nodes[i]))},
                    {"to", end_json(topology, topology.port_opposite(path.cables[i], path.nodes[i]))},
                    {"rate_mbps", cable.rate_mbps},
                    {"latency_us", number_or_null(cable.latency_us)}});
  }
  return hops;
}

class PathVerb final : public Verb {
 public:
  Command describe() override {
    return {
        .name = "path",
        .summary = "the paths from one node to another, cable by cable, with addresses and rates",
        .examples = {"cableway path n0 n2", "cableway path n0 n2 --flow 3", "cableway path n0 n2 --file snapshot.json"},
        .arguments = {json_flag(json_), topology_option(file_),
                      positional("A", from_, "the node where the paths begin").that_names(Argument::Names::kNodes),
                      positional("B", to_, "the node where they end").that_names(Argument::Names::kNodes),
                      ordinal_option("--flow", flow_, "only the path of the flow with this number, from 0")}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, file_, invocation.surroundings.node_deadline);
    if (!known.ok()) return known.status();
    const absl::StatusOr<NodeIndex> from = node_by_name(known->topology, from_);
    if (!from.ok()) return from.status();
    const absl::StatusOr<NodeIndex> to = node_by_name(known->topology, to_);
    if (!to.ok()) return to.status();
    const PathQuery query{*from, *to, flow_};
    return as_answer(json_ ? path_json(known->topology, query) : path_text(known->topology, query));
  }

 private:
  bool json_ = false;
  std::string file_;
  std::string from_;
  std::string to_;
  std::optional<std::uint64_t> flow_;
};

}  // namespace

std::unique_ptr<Verb> path_verb() {
  return std::make_unique<PathVerb>();
}

absl::StatusOr<std::string> path_text(const Topology& topology, const PathQuery& query) {
  const std::string& from = topology.node(query.from).name;
  if (query.from == query.to) return absl::StrCat("flows within node ", from, " cross no cable\n");
  const absl::StatusOr<Found> found = find_paths(topology, query);
  if (!found.ok()) return found.status();
  const routing::Route& route = found->route;
  std::string lines = absl::StrCat("from ", from, " to ", topology.node(query.to).name, ": ", route.cost.hops,
                                   route.cost.hops == 1 ? " hop, " : " hops, ", route.paths.size(),
                                   route.paths.size() == 1 ? " path\n" : " paths\n");
  const routing::ShortCableNames names(topology);
  for (const std::size_t place : found->wanted) {
    const std::optional<double> latency = routing::path_latency_us(topology, route.paths[place].path);
    absl::StrAppend(&lines, "\npath ", place + 1, ", ", rate_text(route.paths[place].weight_mbps),
                    latency ? ", " : ", latency ", latency_text(latency));
    if (query.flow) {
      absl::StrAppend(&lines, ", of flow ", *query.flow);
    } else if (place == found->first) {
      absl::StrAppend(&lines, ", of flow 0");
    }
    absl::StrAppend(&lines, "\n", hops_table(topology, names, route.paths[place].path));
  }
  return lines;
}

absl::StatusOr<std::string> path_json(const Topology& topology, const PathQuery& query) {
  const absl::StatusOr<Found> found = find_paths(topology, query);
  if (!found.ok()) return found.status();
  Json paths = Json::array();
  for (const std::size_t place : found->wanted) {
    const RankedPath& ranked = found->route.paths[place];
    Json nodes = Json::array();
    for (const routing::NodeIndex node : ranked.path.nodes) nodes.push_back(topology.node(node).name);
    const bool crosses = ranked.path.hops() > 0;
    paths.push_back({{"rank", place},
                     {"weight_mbps", crosses ? Json(ranked.weight_mbps) : Json(nullptr)},
                     {"latency_us", number_or_null(routing::path_latency_us(topology, ranked.path))},
                     {"nodes", nodes},
                     {"hops", hops_json(topology, ranked.path)}});
  }
  const Json view = {{routing::kSchemaMember, routing::kJsonSchema},
                     {"from", topology.node(query.from).name},
                     {"to", topology.node(query.to).name},
                     {"hops", found->route.cost.hops},
                     {"flow", query.flow ? Json(*query.flow) : Json(nullptr)},
                     {"first_path", found->first},
                     {"paths", paths}};
  return view.dump(2) + "\n";
}

}  // namespace cableway::cli
