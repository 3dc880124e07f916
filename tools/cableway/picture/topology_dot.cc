#include "tools/cableway/picture/topology_dot.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "routing/topology/cable_quantity.h"
#include "routing/topology/topology_kind.h"
#include "tools/cableway/picture/drawable_topology.h"
#include "tools/cableway/picture/node_look.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

// Names of a valid topology contain no character that needs escaping.
std::string quoted(const std::string& text) {
  return absl::StrCat("\"", text, "\"");
}

// What is different from the expected topology, with the name of its file.
std::string graph_label(const std::string& remark) {
  if (remark.empty()) return "";
  return absl::StrCat("  label=", quoted(absl::StrReplaceAll(remark, {{"\\", "\\\\"}, {"\"", "\\\""}})), ";\n");
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

// Attributes for other programs, named as the members of topology files; Graphviz ignores unknown names.
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
  if (look.missing) attributes.emplace_back("only_expected=true");
  if (look.unreached || look.missing) {
    attributes.push_back("color=red, fontcolor=red, style=\"rounded,dashed\"");
  } else if (look.extra) {
    attributes.emplace_back("color=purple, fontcolor=purple");
  } else if (look.draining) {
    attributes.push_back("fillcolor=lightgrey, style=\"rounded,filled\"");
  }
  append_facts(node, attributes);
  return absl::StrCat("  ", quoted(node.name),
                      attributes.empty() ? "" : absl::StrCat(" [", absl::StrJoin(attributes, ", "), "]"), ";\n");
}

std::string missing_line(const routing::Topology& topology, const routing::Cable& cable, const CableMark& mark) {
  return absl::StrCat("  ", quoted(topology.node(cable.a.node).name), " -- ", quoted(topology.node(cable.b.node).name),
                      " [label=", quoted(mark.label),
                      ", style=dashed, color=red, fontcolor=red, only_expected=true];\n");
}

std::string cable_line(const routing::Topology& topology, const routing::Cable& cable, bool unused,
                       const PictureMarks& marks) {
  const auto mark = marks.cables.find(cable.name);
  const bool is_marked = mark != marks.cables.end();
  if (is_marked && mark->second.is_missing()) return missing_line(topology, cable, mark->second);
  const std::string name = own_name(topology, cable);
  const std::string label = absl::StrCat(name, name.empty() ? "" : "\\n", rate_text(cable.rate_mbps),
                                         is_marked ? absl::StrCat("\\n", mark->second.label) : "");
  return absl::StrCat("  ", quoted(topology.node(cable.a.node).name), " -- ", quoted(topology.node(cable.b.node).name),
                      " [label=", quoted(label), ", tooltip=", quoted(describe_cable(topology, cable)),
                      cable.routed ? ", style=dashed" : "",
                      is_marked ? ", color=purple, fontcolor=purple, penwidth=2"
                      : unused  ? ", color=lightgrey"
                                : "",
                      ", ", cable_facts(cable), "];\n");
}

// Each switch, and its cable to each port: they replace the cables between every two of its ports.
std::string switch_lines(const MarkedTopology& shown) {
  std::string lines;
  for (const routing::Node& node : shown.drawn.nodes()) {
    if (!shown.marks.looks.at(node.name).is_switch) continue;
    absl::StrAppend(&lines, "  ", quoted(node.name), " [style=filled, fillcolor=gainsboro, switch=true];\n");
  }
  for (const routing::Cable& cable : shown.drawn.cables()) {
    const auto mark = shown.marks.cables.find(cable.name);
    if (mark == shown.marks.cables.end() || mark->second.kind != CableMark::Kind::kSwitchPort) continue;
    absl::StrAppend(&lines, "  ", quoted(shown.drawn.node(cable.a.node).name), " -- ",
                    quoted(shown.drawn.node(cable.b.node).name), " [label=", quoted(mark->second.label),
                    ", tooltip=", quoted(mark->second.about), ", rate_mbps=", cable.rate_mbps,
                    ", switch_port=true];\n");
  }
  return lines;
}

}  // namespace

std::string topology_dot(const routing::Topology& topology, std::optional<routing::NodeIndex> self) {
  return topology_dot(topology, PictureMarks{.cables = {}, .looks = looks_by_name(topology, self), .remark = {}});
}

std::string topology_dot(const routing::Topology& topology, const PictureMarks& marks) {
  const MarkedTopology shown = drawable_topology(topology, marks);
  const std::string switches = switch_lines(shown);
  const routing::Topology& shape = switches.empty() ? topology : shown.drawn;
  std::string text = absl::StrCat(
      "graph ", quoted(topology.cluster()), " {\n  layout=", engine_for(routing::recognise_shape(shape).kind),
      ";\n  overlap=false;\n  splines=true;\n", graph_label(marks.remark), "  node [shape=box, style=rounded];\n");
  for (const routing::Node& node : topology.nodes()) absl::StrAppend(&text, node_line(node, marks.looks.at(node.name)));
  for (const routing::Cable& cable : topology.cables()) {
    const bool is_in_switch = shown.drawn.find_plugged(cable.name) == nullptr;
    if (!is_in_switch) text += cable_line(topology, cable, false, marks);
  }
  for (const routing::Cable& cable : topology.unused_cables()) text += cable_line(topology, cable, true, marks);
  return text + switches + "}\n";
}

}  // namespace cableway::cli
