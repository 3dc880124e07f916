#include "tools/cableway/verbs/topology.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/topology/cable_name.h"
#include "routing/topology/short_cable_names.h"
#include "routing/topology_io/json_topology.h"
#include "routing/topology_io/topology_drawing.h"
#include "routing/topology_io/topology_file.h"
#include "tools/cableway/expectation/comparison.h"
#include "tools/cableway/expectation/difference_view.h"
#include "tools/cableway/expectation/expected_topology.h"
#include "tools/cableway/node/gone_cables.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/picture/gone_drawing.h"
#include "tools/cableway/picture/marked_topology.h"
#include "tools/cableway/picture/topology_dot.h"
#include "tools/cableway/picture/topology_svg.h"
#include "tools/cableway/text/local_time.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

const char* or_dash(const std::string& text) {
  return text.empty() ? "-" : text.c_str();
}

// "n0-n1", unless that is another cable, too, or no discovered one.
std::string gone_name(const GoneCable& cable, const GoneCables& gone, const routing::ShortCableNames& names) {
  const std::string pair = routing::pair_name(cable.a.node, cable.b.node);
  const bool is_discovered = routing::interfaces_in_name(cable.name, cable.a.node, cable.b.node).has_value();
  const bool is_free = absl::IsNotFound(names.find(pair).status());
  const auto is_of_pair = [&](const GoneCable& each) { return routing::pair_name(each.a.node, each.b.node) == pair; };
  return is_discovered && is_free && std::count_if(gone.begin(), gone.end(), is_of_pair) == 1 ? pair : cable.name;
}

// A table of the cables that are gone; empty if there are none.
std::string gone_text(const routing::Topology& found, const GoneCables& gone) {
  if (gone.empty()) return "";
  const routing::ShortCableNames names(found);
  using Align = TextTable::Align;
  TextTable table({{"gone cable", Align::kLeft, TextTable::Fit::kCutMiddle},
                   {"from"},
                   {"interface"},
                   {"to"},
                   {"interface"},
                   {"Mbit/s", Align::kRight},
                   {"gone since"}});
  for (const GoneCable& cable : gone) {
    table.add_row({gone_name(cable, gone, names), cable.a.node, or_dash(cable.a.interface), cable.b.node,
                   or_dash(cable.b.interface), absl::StrCat(cable.rate_mbps), local_time_text(cable.since)});
  }
  return absl::StrCat("\n", table.text());
}

// The topology, the cables that it had, and how it compares with the one that is expected.
struct Compared {
  const KnownTopology& known;
  std::optional<routing::NodeIndex> self;  // a topology file has no node of its own
  std::optional<ExpectedTopology> expected;
  Comparison comparison;  // where one is expected
  std::optional<GoneCables> gone = {};

  std::string json() const {
    std::string text = routing::to_json_topology(known.topology);
    text.resize(text.rfind('}'));
    const Json expectation = expected ? differences_json(expected->file, comparison) : Json();
    return absl::StrCat(text, ",\n \"gone\": ", gone_cables_json(gone).dump(), ",\n \"expected\": ", expectation.dump(),
                        "}\n");
  }
  std::string dot() const {
    if (!expected) return topology_dot(known.topology, self);
    const MarkedTopology marked = mark_topology(known.topology, self, *expected, comparison);
    return topology_dot(marked.drawn, marked.marks);
  }
  // An expected topology shows what is missing, so gone cables would be listed twice.
  std::string svg() const {
    if (!expected) {
      const MarkedTopology shown = with_gone_cables(known.topology, self, gone.value_or(GoneCables()));
      return topology_svg(shown.drawn, shown.marks);
    }
    const MarkedTopology marked = mark_topology(known.topology, self, *expected, comparison);
    return topology_svg(marked.drawn, marked.marks);
  }
  std::string text(const Look& look) const {
    const std::string found =
        absl::StrCat(topology_text(known.topology, look.paint), gone_text(known.topology, gone.value_or(GoneCables())));
    return expected ? absl::StrCat(found, "\n", differences_text(expected->file, comparison, look)) : found;
  }
};

// "node n0", "cable n0-n1": for shells, which complete them.
std::string names_text(const routing::Topology& topology) {
  const routing::ShortCableNames names(topology);
  std::string lines;
  for (const routing::Node& node : topology.nodes()) absl::StrAppend(&lines, "node ", node.name, "\n");
  for (const routing::Cable& cable : topology.plugged_cables()) {
    absl::StrAppend(&lines, "cable ", names.of(cable), "\n");
  }
  return lines;
}

class TopologyVerb final : public Verb {
 public:
  Command describe() override {
    return {
        .name = "topology",
        .summary = "the topology drawn, a table of its cables, and what is not as expected",
        .examples = {"cableway topology", "cableway topology --svg > topology.svg",
                     "cableway topology --dot | dot -Tpdf > topology.pdf", "cableway topology --toml > cluster.toml",
                     "cableway topology --expect cluster.toml", "cableway topology --file ring.toml --json",
                     "cableway topology --file torus:4x4@100Gbit/s,2us"},
        .arguments = {json_flag(json_), topology_option(file_),
                      flag("--dot", dot_, "as a graph for Graphviz").excluding({"--json"}),
                      flag("--svg", svg_, "as a picture").excluding({"--json", "--dot"}),
                      flag("--toml", toml_, "as a topology file, to edit").excluding({"--json", "--dot", "--svg"}),
                      flag("--names", names_, "only the names of nodes and cables, as tables have them, one a line")
                          .excluding({"--json", "--dot", "--svg", "--toml"}),
                      expect_option(expect_).excluding({"--toml", "--names"})}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, file_, invocation.surroundings.node_deadline);
    if (!known.ok()) return known.status();
    if (names_) return Answer{names_text(known->topology)};
    if (toml_) return Answer{routing::to_topology_file(known->topology)};
    std::vector<std::string> remarks;
    absl::StatusOr<std::optional<ExpectedTopology>> expected = find_expected(invocation.settings, remarks);
    if (!expected.ok()) return expected.status();
    Compared compared{.known = *known,
                      .self = file_.empty() ? known->topology.find_node(known->node) : std::nullopt,
                      .expected = *std::move(expected),
                      .comparison = {}};
    if (file_.empty() && !dot_) {
      compared.gone = find_gone_cables(invocation.settings, known->topology, invocation.surroundings.node_deadline);
    }
    if (compared.expected) compared.comparison = compare_topologies(compared.expected->topology, known->topology);
    return Answer{render(compared, invocation.look()), kDone, std::move(remarks)};
  }

 private:
  // The setting is about the cluster, not about files. A bad one must not hide the topology.
  absl::StatusOr<std::optional<ExpectedTopology>> find_expected(const Settings& settings,
                                                                std::vector<std::string>& remarks) const {
    const std::string file = !expect_.empty() || !file_.empty() ? expect_ : settings.expect;
    if (file.empty()) return std::optional<ExpectedTopology>();
    absl::StatusOr<ExpectedTopology> expected = read_expected(file);
    if (expected.ok()) return std::optional(*std::move(expected));
    if (!expect_.empty()) return expected.status();
    remarks.emplace_back(expected.status().message());
    return std::optional<ExpectedTopology>();
  }

  std::string render(const Compared& compared, const Look& look) const {
    if (json_) return compared.json();
    if (dot_) return compared.dot();
    return svg_ ? compared.svg() : compared.text(look);
  }

  bool json_ = false;
  bool dot_ = false;
  bool svg_ = false;
  bool toml_ = false;
  bool names_ = false;
  std::string file_;
  std::string expect_;
};

std::string interface_text(const routing::Port& port) {
  return port.interface.empty() ? "-" : port.interface;
}

std::string remarks(const routing::Cable& cable, const Paint& paint) {
  std::vector<std::string> remarks;
  if (cable.routed) remarks.emplace_back("through IP routers");
  if (cable.draining) remarks.push_back(paint(Paint::Tone::kWarning, "draining"));
  if (cable.loss_percent > 0) {
    remarks.push_back(paint(Paint::Tone::kWarning, absl::StrCat("loses ", cable.loss_percent, " %")));
  }
  return absl::StrJoin(remarks, ", ");
}

}  // namespace

std::unique_ptr<Verb> topology_verb() {
  return std::make_unique<TopologyVerb>();
}

std::string topology_text(const routing::Topology& topology, const Paint& paint) {
  using Align = TextTable::Align;
  TextTable table({{"cable", Align::kLeft, TextTable::Fit::kCutMiddle},
                   {"from"},
                   {"interface"},
                   {"address"},
                   {"to"},
                   {"interface"},
                   {"address"},
                   {"Mbit/s", Align::kRight},
                   {"us", Align::kRight},
                   {"", Align::kLeft, TextTable::Fit::kWrap}});
  const routing::ShortCableNames names(topology);
  for (const routing::Cable& cable : topology.plugged_cables()) {
    table.add_row({names.of(cable), topology.node(cable.a.node).name, interface_text(cable.a), cable.a.address,
                   topology.node(cable.b.node).name, interface_text(cable.b), cable.b.address,
                   absl::StrCat(cable.rate_mbps), latency_cell(cable.latency_us), remarks(cable, paint)});
  }
  return absl::StrCat(routing::draw_topology(topology), "\n", table.text());
}

}  // namespace cableway::cli
