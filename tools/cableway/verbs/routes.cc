#include "tools/cableway/verbs/routes.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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
using routing::Path;
using routing::RankedPath;
using routing::Route;
using routing::RouteTable;
using routing::Topology;

// Calls `use` with the route to each other node, until it returns false.
template <typename Use>
void for_each_route(const Topology& topology, const RouteTable& table, Use use) {
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    if (NodeIndex{i} != table.self() && !use(table.route_to(NodeIndex{i}))) return;
  }
}

std::size_t first_path(const RouteTable& table, const Route& route) {
  const Path first = table.path_for_flow(route.destination, 0);
  const auto found = std::find_if(route.paths.begin(), route.paths.end(),
                                  [&](const RankedPath& ranked) { return ranked.path == first; });
  return static_cast<std::size_t>(found - route.paths.begin());
}

// "n0 -c0- n1 -c1- n2"
std::string route_path_text(const Topology& topology, const routing::ShortCableNames& names, const Path& path) {
  std::string text = topology.node(path.nodes.front()).name;
  for (std::size_t i = 0; i < path.cables.size(); ++i) {
    absl::StrAppend(&text, " -", names.of(path.cables[i]), "- ", topology.node(path.nodes[i + 1]).name);
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

Json route_json(const Topology& topology, const RouteTable& table, const Route& route) {
  Json paths = Json::array();
  for (const RankedPath& ranked : route.paths) paths.push_back(path_json(topology, ranked));
  return {{"destination", topology.node(route.destination).name},
          {"hops", route.cost.hops},
          {"paths", paths},
          {"first_path", first_path(table, route)}};
}

// The table's rows: one for each path, of which the first names the destination.
class RouteRows {
 public:
  RouteRows(const Topology& topology, const RouteTable& routes)
      : topology_(topology), routes_(routes), names_(topology) {}

  TextTable& table() { return table_; }
  std::vector<std::vector<std::string>> of(const Route& route) const {
    const std::size_t first = first_path(routes_, route);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < route.paths.size(); ++i) {
      const bool is_new = i == 0;
      rows.push_back({is_new ? topology_.node(route.destination).name : "", is_new ? absl::StrCat(route.cost.hops) : "",
                      absl::StrCat(i == first ? "* " : "  ", route_path_text(topology_, names_, route.paths[i].path)),
                      latency_cell(routing::path_latency_us(topology_, route.paths[i].path)),
                      absl::StrCat(route.paths[i].weight_mbps)});
    }
    return rows;
  }

 private:
  using Align = TextTable::Align;
  const Topology& topology_;
  const RouteTable& routes_;
  const routing::ShortCableNames names_;
  TextTable table_ = TextTable({{"to"},
                                {"hops", Align::kRight},
                                {"  paths", Align::kLeft, TextTable::Fit::kCutMiddle},
                                {"us", Align::kRight},
                                {"weight (Mbit/s)", Align::kRight}});
};

class RoutesVerb final : public Verb {
 public:
  Command describe() override {
    return {.name = "routes",
            .summary = "how a node reaches each other node: hops, paths, weights",
            .examples = {"cableway routes", "cableway routes --file ring:8 --node n0"},
            .arguments = {json_flag(json_), topology_option(file_),
                          text_option("--node", "NODE", node_,
                                      "the routes of this node, instead of the one that runs here or CABLEWAY_NODE")
                              .that_names(Argument::Names::kNodes)}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, file_, invocation.surroundings.node_deadline);
    if (!known.ok()) return known.status();
    const absl::StatusOr<NodeIndex> self = node_by_name(known->topology, node_.empty() ? known->node : node_);
    if (!self.ok()) return self.status();
    (json_ ? write_routes_json : write_routes_text)(known->topology, *self, invocation.out);
    return Answer{};
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

void write_routes_text(const Topology& topology, NodeIndex self, std::ostream& out) {
  const RouteTable table = routing::compute_routes(topology, self);
  RouteRows rows(topology, table);
  // The first pass finds the widths of the columns.
  for_each_route(topology, table, [&](const Route& route) {
    for (const std::vector<std::string>& cells : rows.of(route)) rows.table().widen(cells);
    return true;
  });
  out << "routes of " << topology.node(self).name
      << "; * marks the path of a destination's first flow; further flows use the others in turn\n\n"
      << rows.table().heading();
  for_each_route(topology, table, [&](const Route& route) {
    for (const std::vector<std::string>& cells : rows.of(route)) out << rows.table().line(cells);
    return out.good();
  });
}

// As Json::dump(2) writes the whole document.
void write_routes_json(const Topology& topology, NodeIndex self, std::ostream& out) {
  const RouteTable table = routing::compute_routes(topology, self);
  const Json head = {{routing::kSchemaMember, routing::kJsonSchema}, {"node", topology.node(self).name}};
  std::string before = head.dump(2);
  before.erase(before.rfind('\n'));  // the closing brace
  out << before << ",\n  \"routes\": [";
  const char* separator = "\n    ";
  for_each_route(topology, table, [&](const Route& route) {
    const std::string text = route_json(topology, table, route).dump(2);
    out << std::exchange(separator, ",\n    ") << absl::StrReplaceAll(text, {{"\n", "\n    "}});
    return out.good();
  });
  out << (topology.node_count() > 1 ? "\n  ]\n}\n" : "]\n}\n");
}

}  // namespace cableway::cli
