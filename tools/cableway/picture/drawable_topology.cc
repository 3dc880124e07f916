#include "tools/cableway/picture/drawable_topology.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/layout/switch_boxes.h"
#include "routing/layout/usable_cables.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

using routing::Topology;

CableMark port_mark(const Topology& topology, const routing::SwitchPort& port) {
  const routing::Cable& first = *topology.find_plugged(port.cables.front());
  const bool is_a = topology.node(first.a.node).name == port.node;
  CableMark mark{CableMark::Kind::kSwitchPort, rate_text(port.rate_mbps)};
  mark.about = absl::StrCat(port.name, " ", (is_a ? first.a : first.b).address, " on a switch, ", mark.label,
                            ", joins ", port.others, " other ports");
  return mark;
}

// Cables that are marked as something else stay so.
void mark_unused(const Topology& topology, PictureMarks& marks) {
  for (const routing::Cable& cable : topology.unused_cables()) {
    CableMark& mark = marks.cables[cable.name];
    if (!mark.label.empty()) continue;
    mark.kind = CableMark::Kind::kUnused;
    mark.label = cable.draining ? "draining" : absl::StrCat("loses ", cable.loss_percent, " %");
    mark.about = describe_cable(topology, cable);
  }
}

}  // namespace

MarkedTopology drawable_topology(const Topology& topology, const PictureMarks& marks) {
  const routing::BoxedTopology boxed =
      with_switch_boxes(topology, [&](const routing::Cable& cable) { return marks.cables.contains(cable.name); });
  absl::StatusOr<Topology> drawn =
      Topology::create(topology.cluster(), {boxed.drawn.nodes().begin(), boxed.drawn.nodes().end()},
                       routing::as_usable(boxed.drawn.plugged_cables()));
  if (!drawn.ok()) return {topology, marks};
  MarkedTopology shown{*std::move(drawn), marks};
  for (const std::string& name : boxed.boxes) shown.marks.looks[name] = NodeLook{.is_switch = true};
  for (const auto& [cable, port] : boxed.ports) shown.marks.cables[cable] = port_mark(topology, port);
  mark_unused(topology, shown.marks);
  return shown;
}

}  // namespace cableway::cli
