#include "tools/cableway/verbs/topology.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/topology_io/json_topology.h"
#include "routing/topology_io/topology_drawing.h"
#include "routing/topology_io/topology_file.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/picture/topology_dot.h"
#include "tools/cableway/picture/topology_svg.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

class TopologyVerb final : public Verb {
 public:
  Command describe() override {
    return {
        .name = "topology",
        .summary = "the topology drawn, and a table of its cables",
        .examples = {"cableway topology", "cableway topology --svg > topology.svg",
                     "cableway topology --dot | dot -Tpdf > topology.pdf", "cableway topology --toml > cluster.toml",
                     "cableway topology --file ring.toml --json", "cableway topology --file torus:4x4@100Gbit/s,2us"},
        .arguments = {json_flag(json_), topology_option(file_),
                      flag("--dot", dot_, "as a graph for Graphviz").excluding({"--json"}),
                      flag("--svg", svg_, "as a picture").excluding({"--json", "--dot"}),
                      flag("--toml", toml_, "as a topology file, to edit").excluding({"--json", "--dot", "--svg"})}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, file_, invocation.surroundings.node_deadline);
    if (!known.ok()) return known.status();
    const routing::Topology& topology = known->topology;
    // A topology file has no node of its own.
    const std::optional<routing::NodeIndex> self = file_.empty() ? topology.find_node(known->node) : std::nullopt;
    if (json_) return Answer{routing::to_json_topology(topology)};
    if (dot_) return Answer{topology_dot(topology, self)};
    if (toml_) return Answer{routing::to_topology_file(topology)};
    return Answer{svg_ ? topology_svg(topology, self) : topology_text(topology)};
  }

 private:
  bool json_ = false;
  bool dot_ = false;
  bool svg_ = false;
  bool toml_ = false;
  std::string file_;
};

std::string interface_text(const routing::Port& port) {
  return port.interface.empty() ? "-" : port.interface;
}

std::string remarks(const routing::Cable& cable) {
  std::vector<std::string> remarks;
  if (cable.routed) remarks.emplace_back("through IP routers");
  if (cable.draining) remarks.emplace_back("draining");
  if (cable.loss_percent > 0) remarks.push_back(absl::StrCat("loses ", cable.loss_percent, " %"));
  return absl::StrJoin(remarks, ", ");
}

}  // namespace

std::unique_ptr<Verb> topology_verb() {
  return std::make_unique<TopologyVerb>();
}

std::string topology_text(const routing::Topology& topology) {
  using Align = TextTable::Align;
  TextTable table({{"cable"},
                   {"from"},
                   {"interface"},
                   {"address"},
                   {"to"},
                   {"interface"},
                   {"address"},
                   {"Mbit/s", Align::kRight},
                   {"us", Align::kRight},
                   {""}});
  for (const routing::Cable& cable : topology.plugged_cables()) {
    table.add_row({cable.name, topology.node(cable.a.node).name, interface_text(cable.a), cable.a.address,
                   topology.node(cable.b.node).name, interface_text(cable.b), cable.b.address,
                   absl::StrCat(cable.rate_mbps), latency_cell(cable.latency_us), remarks(cable)});
  }
  return absl::StrCat(routing::draw_topology(topology), "\n", table.text());
}

}  // namespace cableway::cli
