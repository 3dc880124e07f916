#include "tools/cableway/verbs/routes.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/paths/path_latency.h"
#include "routing/paths/route_table.h"
#include "routing/text/json_schema.h"
#include "tools/cableway/node/node_by_name.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

using routing::NodeIndex;
using routing::Path;
using routing::RankedPath;
using routing::Route;
using routing::RouteTable;
using routing::Topology;

std::vector<Route> routes_to_others(const Topology& topology, const RouteTable& table) {
  std::vector<Route> routes;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    if (NodeIndex{i} != table.self()) routes.push_back(table.route_to(NodeIndex{i}));
  }
  return routes;
}

std::size_t first_path(const RouteTable& table, const Route& route) {
  const Path first = table.path_for_flow(route.destination, 0);
  const auto found = std::find_if(route.paths.begin(), route.paths.end(),
                                  [&](const RankedPath& ranked) { return ranked.path == first; });
  return static_cast<std::size_t>(found - route.paths.begin());
}

// "n0 -c0- n1 -c1- n2"
std::string path_text(const Topology& topology, const Path& path) {
  std::string text = topology.node(path.nodes.front()).name;
  for (std::size_t i = 0; i < path.cables.size(); ++i) {
    absl::StrAppend(&text, " -", topology.cable(path.cables[i]).name, "- ", topology.node(path.nodes[i + 1]).name);
  }
  return text;
}

Json path_json(const Topology& topology, const RankedPath& ranked) {
  Json nodes = Json::array();
  for (const NodeIndex node : ranked.path.nodes) nodes.push_back(topology.node(node).name);
  Json cables = Json::array();
  for (const routing::CableIndex cable : ranked.path.cables) cables.push_back(topology.cable(cable).name);
  return {{"nodes", nodes},
          {"cables", cables},
          {"weight_mbps", ranked.weight_mbps},
          {"latency_us", number_or_null(routing::path_latency_us(topology, ranked.path))}};
}

class RoutesVerb final : public Verb {
 public:
  Command describe() override {
    return {.name = "routes",
            .summary = "how a node reaches each other node: hops, paths, weights",
            .examples = {"cableway routes", "cableway routes --file ring:8 --node n0"},
            .arguments = {json_flag(json_), topology_option(file_),
                          text_option("--node", "NODE", node_,
                                      "the routes of this node, instead of the one that runs here or CABLEWAY_NODE")}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, file_, invocation.surroundings.node_deadline);
    if (!known.ok()) return known.status();
    const absl::StatusOr<NodeIndex> self = node_by_name(known->topology, node_.empty() ? known->node : node_);
    if (!self.ok()) return self.status();
    return Answer{json_ ? routes_json(known->topology, *self) : routes_text(known->topology, *self)};
  }

 private:
  bool json_ = false;
  std::string file_;
  std::string node_;
};

}  // namespace

std::unique_ptr<Verb> routes_verb() {
  return std::make_unique<RoutesVerb>();
}

std::string routes_text(const Topology& topology, NodeIndex self) {
  using Align = TextTable::Align;
  const RouteTable routes = routing::compute_routes(topology, self);
  TextTable table(
      {{"to"}, {"hops", Align::kRight}, {"  paths"}, {"us", Align::kRight}, {"weight (Mbit/s)", Align::kRight}});
  for (const Route& route : routes_to_others(topology, routes)) {
    const std::size_t first = first_path(routes, route);
    for (std::size_t i = 0; i < route.paths.size(); ++i) {
      const bool is_new = i == 0;
      table.add_row({is_new ? topology.node(route.destination).name : "", is_new ? absl::StrCat(route.cost.hops) : "",
                     absl::StrCat(i == first ? "* " : "  ", path_text(topology, route.paths[i].path)),
                     latency_cell(routing::path_latency_us(topology, route.paths[i].path)),
                     absl::StrCat(route.paths[i].weight_mbps)});
    }
  }
  return absl::StrCat("routes of ", topology.node(self).name,
                      "; * marks the path of a destination's first flow; further flows use the others in turn\n\n",
                      table.text());
}

std::string routes_json(const Topology& topology, NodeIndex self) {
  const RouteTable table = routing::compute_routes(topology, self);
  Json routes = Json::array();
  for (const Route& route : routes_to_others(topology, table)) {
    Json paths = Json::array();
    for (const RankedPath& ranked : route.paths) paths.push_back(path_json(topology, ranked));
    routes.push_back({{"destination", topology.node(route.destination).name},
                      {"hops", route.cost.hops},
                      {"paths", paths},
                      {"first_path", first_path(table, route)}});
  }
  const Json view = {
      {routing::kSchemaMember, routing::kJsonSchema}, {"node", topology.node(self).name}, {"routes", routes}};
  return view.dump(2) + "\n";
}

}  // namespace cableway::cli
