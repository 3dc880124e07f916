#include "tools/cableway/picture/topology_dot.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/topology/cable_quantity.h"
#include "routing/topology/topology_kind.h"
#include "tools/cableway/picture/node_look.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

// Names of a valid topology contain no character that needs escaping.
std::string quoted(const std::string& text) {
  return absl::StrCat("\"", text, "\"");
}

const char* engine_for(routing::TopologyKind kind) {
  switch (kind) {
    case routing::TopologyKind::kRing:
    case routing::TopologyKind::kFullMesh:
      return "circo";
    case routing::TopologyKind::kLine:
    case routing::TopologyKind::kTree:
      return "dot";
    default:
      return "neato";
  }
}

// Attributes that routing/topology_io/dot_topology.h reads back; Graphviz ignores unknown names.
void append_facts(const routing::Node& node, std::vector<std::string>& attributes) {
  if (node.relay_port != routing::kDefaultRelayPort) {
    attributes.push_back(absl::StrCat("relay_port=", node.relay_port));
  }
  if (node.draining) attributes.emplace_back("draining=true");
  for (const auto& [name, parts] : {std::pair("plugs", &node.plugs), std::pair("roots", &node.roots)}) {
    if (parts->empty()) continue;
    const std::string text = absl::StrJoin(*parts, " ", [](std::string* out, const routing::SharedPart& part) {
      absl::StrAppend(out, part.name, "=", part.rate_mbps);
    });
    attributes.push_back(absl::StrCat(name, "=", quoted(text)));
  }
}

std::string end_facts(const char* end, const routing::Port& port) {
  std::string facts = absl::StrCat(", ", end, "_address=", quoted(port.address));
  if (!port.interface.empty()) absl::StrAppend(&facts, ", ", end, "_interface=", quoted(port.interface));
  if (!port.plug.empty()) absl::StrAppend(&facts, ", ", end, "_plug=", quoted(port.plug));
  if (!port.root.empty()) absl::StrAppend(&facts, ", ", end, "_root=", quoted(port.root));
  return facts;
}

std::string cable_facts(const routing::Cable& cable) {
  return absl::StrCat(
      "name=", quoted(cable.name), ", rate_mbps=", cable.rate_mbps,
      cable.latency_us ? absl::StrCat(", latency_us=", quoted(routing::number_text(*cable.latency_us))) : "",
      cable.routed ? ", routed=true" : "", cable.draining ? ", draining=true" : "",
      cable.loss_percent > 0 ? absl::StrCat(", loss_percent=", cable.loss_percent) : "", end_facts("from", cable.a),
      end_facts("to", cable.b));
}

std::string node_line(const routing::Node& node, const NodeLook& look) {
  std::vector<std::string> attributes;
  const std::string note = note_of(look);
  if (!note.empty()) attributes.push_back(absl::StrCat("label=", quoted(absl::StrCat(node.name, "\\n", note))));
  if (look.self) attributes.push_back("penwidth=3");
  if (look.unreached) {
    attributes.push_back("color=red, fontcolor=red, style=\"rounded,dashed\"");
  } else if (look.draining) {
    attributes.push_back("fillcolor=lightgrey, style=\"rounded,filled\"");
  }
  append_facts(node, attributes);
  return absl::StrCat("  ", quoted(node.name),
                      attributes.empty() ? "" : absl::StrCat(" [", absl::StrJoin(attributes, ", "), "]"), ";\n");
}

std::string cable_line(const routing::Topology& topology, const routing::Cable& cable, bool unused) {
  const std::string name = own_name(topology, cable);
  const std::string label = absl::StrCat(name, name.empty() ? "" : "\\n", rate_text(cable.rate_mbps));
  return absl::StrCat("  ", quoted(topology.node(cable.a.node).name), " -- ", quoted(topology.node(cable.b.node).name),
                      " [label=", quoted(label), ", tooltip=", quoted(describe_cable(topology, cable)),
                      cable.routed ? ", style=dashed" : "", unused ? ", color=lightgrey" : "", ", ", cable_facts(cable),
                      "];\n");
}

}  // namespace

std::string topology_dot(const routing::Topology& topology, std::optional<routing::NodeIndex> self) {
  const std::vector<NodeLook> looks = node_looks(topology, self);
  std::string text = absl::StrCat("graph ", quoted(topology.cluster()),
                                  " {\n  layout=", engine_for(routing::recognise_shape(topology).kind),
                                  ";\n  overlap=false;\n  splines=true;\n  node [shape=box, style=rounded];\n");
  for (std::uint32_t i = 0; i < topology.node_count(); ++i)
    absl::StrAppend(&text, node_line(topology.nodes()[i], looks[i]));
  for (const routing::Cable& cable : topology.cables()) text += cable_line(topology, cable, false);
  for (const routing::Cable& cable : topology.unused_cables()) text += cable_line(topology, cable, true);
  return text + "}\n";
}

}  // namespace cableway::cli
