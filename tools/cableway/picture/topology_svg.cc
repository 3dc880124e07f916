#include "tools/cableway/picture/topology_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "routing/layout/text_width.h"
#include "routing/layout/topology_layout.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology_kind.h"
#include "tools/cableway/picture/drawable_topology.h"
#include "tools/cableway/picture/label_places.h"
#include "tools/cableway/picture/node_look.h"
#include "tools/cableway/picture/xml_text.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

using routing::Place;
using routing::Topology;
using routing::TopologyLayout;

// Pixels.
constexpr double kNameSize = 13;
constexpr double kTitleSize = 16;
constexpr double kLabelSize = 11;
constexpr double kNoteSize = 10;
constexpr double kBoxHeight = 34;
constexpr double kSmallestBox = 54;
constexpr double kBoxRoom = 20;  // beside the name
constexpr double kNoteDrop = 12;
constexpr double kMargin = 16;
constexpr double kTitleHeight = 40;
constexpr double kLegendLine = 16;
constexpr double kRoomForCables = 120;
constexpr double kLabelHeight = 14;
constexpr double kLabelRoom = 6;
constexpr double kJacket = 12;  // around the cables of a wire
constexpr std::size_t kMaxLabels = 200;

constexpr char kStyle[] =
    "text{font:13px sans-serif;text-anchor:middle}"
    ".title{font-size:16px;font-weight:bold;text-anchor:start}"
    ".legend{font-size:11px;text-anchor:start;fill:#555}"
    ".cable{fill:none;stroke:#3b6ea5}"
    ".slow{stroke:#c77700}"
    ".routed{stroke-dasharray:6 4}"
    ".missing{stroke:#c62828;stroke-dasharray:7 5}"
    ".wrong{stroke:#8e24aa}"
    ".unused{stroke:#9a9a9a}"
    ".wire{fill:none;stroke:#dfe6ee;stroke-linecap:butt}"
    ".rate{font-size:11px;fill:#333}"
    ".node{fill:#eef4fb;stroke:#3b6ea5;stroke-width:1.5}"
    ".switch{fill:#dde1e6;stroke:#555}"
    ".self{stroke-width:3.5}"
    ".draining{fill:#d0d0d0;stroke:#777}"
    ".unreached{fill:#fff;stroke:#c62828;stroke-dasharray:5 4}"
    ".extra{stroke:#8e24aa}"
    ".rate.missing{fill:#c62828;stroke:none}"
    ".rate.wrong{fill:#8e24aa;font-weight:bold;stroke:none}"
    ".rate.unused{fill:#666;stroke:none}"
    ".note{font-size:10px;fill:#555}";

double box_width(const std::string& name) {
  return std::max(kSmallestBox, routing::text_width(name, kNameSize) + kBoxRoom);
}

class SvgDrawing {
 public:
  SvgDrawing(const Topology& topology, const PictureMarks& marks)
      : topology_(topology),
        shape_(routing::recognise_shape(topology)),
        physical_(routing::physical_cables(topology)),
        marks_(marks),
        layout_(lay_out(topology, shape_, spacing())) {
    for (const routing::Cable& cable : topology.cables()) fastest_ = std::max(fastest_, cable.rate_mbps);
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) take_node(i);
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) hold_curve(curve(i));
  }

  std::string text() {
    std::string drawn;
    for (const routing::PhysicalCable& wire : physical_.cables) absl::StrAppend(&drawn, jacket(wire));
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) absl::StrAppend(&drawn, line(i));
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) absl::StrAppend(&drawn, node(i));
    for (const routing::PhysicalCable& wire : physical_.cables) absl::StrAppend(&drawn, label(wire));
    return framed(drawn);
  }

 private:
  double spacing() const {
    double widest = kSmallestBox;
    for (const routing::Node& node : topology_.nodes()) widest = std::max(widest, box_width(node.name));
    return widest + kRoomForCables;
  }

  void take_node(std::uint32_t index) {
    const std::string& name = topology_.nodes()[index].name;
    const Place& at = layout_.places[index];
    taken_.take(Box::around(at, box_width(name) + 4, kBoxHeight + 4));
    const std::string note = note_of(marks_.looks.at(name));
    if (note.empty()) return;
    taken_.take(
        Box::around({at.x, at.y + kBoxHeight / 2 + kNoteDrop - 3}, routing::text_width(note, kNoteSize), kLabelHeight));
  }

  void hold_curve(const Curve& curve) {
    constexpr int kSteps = 8;
    for (int i = 0; i <= kSteps; ++i) {
      taken_.hold(Box::around(curve.at(static_cast<double>(i) / kSteps), kJacket, kJacket));
    }
  }

  // Everything that is drawn, with a title above and a legend below.
  std::string framed(const std::string& drawn) const {
    const Box& all = taken_.all();
    const std::string heading = title();
    const std::vector<std::string> lines = legend_lines();
    double width = std::max(all.right - all.left, routing::text_width(heading, kTitleSize, routing::FontWeight::kBold));
    for (const std::string& each : lines) width = std::max(width, routing::text_width(each, kLabelSize));
    width += 2 * kMargin;
    const double below = kTitleHeight + kMargin + all.bottom - all.top;
    const double height = below + kMargin + kLegendLine * static_cast<double>(lines.size()) + kMargin / 2;
    std::string svg = absl::StrFormat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
        "<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
        "<text class=\"title\" x=\"%.0f\" y=\"26\">%s</text>\n<g transform=\"translate(%.1f %.1f)\">\n",
        width, height, width, height, kStyle, kMargin, xml_text(heading),
        (width - (all.right - all.left)) / 2 - all.left, kTitleHeight + kMargin / 2 - all.top);
    absl::StrAppend(&svg, drawn, "</g>\n");
    double y = below + kMargin + kLegendLine / 2;
    for (const std::string& each : lines) {
      absl::StrAppend(&svg, absl::StrFormat("<text class=\"legend\" x=\"%.0f\" y=\"%.1f\">%s</text>\n", kMargin, y,
                                            xml_text(each)));
      y += kLegendLine;
    }
    return svg + "</svg>\n";
  }

  const CableMark* mark_of(const routing::Cable& cable) const {
    const auto mark = marks_.cables.find(cable.name);
    return mark == marks_.cables.end() ? nullptr : &mark->second;
  }

  static const char* class_of(const CableMark* mark) {
    if (mark == nullptr) return "";
    switch (mark->kind) {
      case CableMark::Kind::kMissing:
      case CableMark::Kind::kGone:
        return " missing";
      case CableMark::Kind::kWrong:
        return " wrong";
      case CableMark::Kind::kUnused:
        return " unused";
      case CableMark::Kind::kSwitchPort:
        break;
    }
    return "";
  }

  template <typename Is>
  std::string counted(const char* one, const char* many, Is is) const {
    const auto count = std::count_if(topology_.nodes().begin(), topology_.nodes().end(),
                                     [&](const auto& node) { return is(marks_.looks.at(node.name)); });
    return absl::StrCat(count, " ", count == 1 ? one : many);
  }

  // Without what is missing.
  std::string title() const {
    const std::string nodes =
        counted("node", "nodes", [](const NodeLook& look) { return !look.missing && !look.is_switch; });
    const std::string switches = counted("switch", "switches", [](const NodeLook& look) { return look.is_switch; });
    const auto cables = std::count_if(topology_.cables().begin(), topology_.cables().end(), [&](const auto& cable) {
      const CableMark* const mark = mark_of(cable);
      return mark == nullptr || !mark->is_missing();
    });
    const bool has_switch = switches.front() != '0';
    return absl::StrCat("cluster ", topology_.cluster(), ": ",
                        has_switch ? "" : absl::StrCat(std::string(kind_name(shape_.kind)), ", "), nodes, ", ",
                        has_switch ? absl::StrCat(switches, ", ") : "", cables, cables == 1 ? " cable" : " cables");
  }

  std::vector<std::string> legend_lines() const {
    std::vector<std::string> lines = {"thick box: the node that was queried; grey: draining, or not in use",
                                      "red, dashed: not reached; orange: slower than the fastest",
                                      "lines on one band: cables that share a wire, as functions of split ports do"};
    const bool has_wires = std::any_of(physical_.cables.begin(), physical_.cables.end(),
                                       [](const auto& wire) { return wire.cables.size() > 1; });
    if (!has_wires) lines.pop_back();
    const auto gone = std::count_if(marks_.cables.begin(), marks_.cables.end(),
                                    [](const auto& entry) { return entry.second.kind == CableMark::Kind::kGone; });
    if (gone > 0) {
      lines.insert(lines.begin(), absl::StrCat("dashed cables: gone (", gone, ")"));
    }
    if (!marks_.remark.empty()) {
      lines.insert(lines.begin(), {marks_.remark, "red, dashed: missing; purple: not as expected"});
    }
    return lines;
  }

  Curve curve(std::uint32_t cable) const {
    return Curve::of(layout_.places[topology_.cables()[cable].a.node.value],
                     layout_.places[topology_.cables()[cable].b.node.value], layout_.bends[cable]);
  }

  Curve curve(const routing::PhysicalCable& wire) const { return wire_curve(topology_, layout_, wire.cables); }

  static std::string path_text(const Curve& curve) {
    return absl::StrFormat("M%.1f %.1fQ%.1f %.1f %.1f %.1f", curve.begin.x, curve.begin.y, curve.control.x,
                           curve.control.y, curve.end.x, curve.end.y);
  }

  // A band below cables that are one wire.
  std::string jacket(const routing::PhysicalCable& wire) const {
    if (wire.cables.size() < 2) return "";
    const double width = routing::kTwinGap * static_cast<double>(wire.cables.size() - 1) + kJacket;
    return absl::StrFormat(
        "<path class=\"wire\" stroke-width=\"%.1f\" d=\"%s\"><title>%s</title></path>\n", width, path_text(curve(wire)),
        xml_text(absl::StrCat("one wire: ", wire.cables.size(), " cables, together ", rate_text(wire.rate_mbps))));
  }

  std::string line(std::uint32_t index) const {
    const routing::Cable& cable = topology_.cables()[index];
    // Rates span decades, so the width is logarithmic.
    const double share = static_cast<double>(cable.rate_mbps) / static_cast<double>(fastest_);
    const double width = std::clamp(4 + std::log10(share), 1.5, 4.0);
    const CableMark* const mark = mark_of(cable);
    return absl::StrFormat("<path class=\"cable%s%s%s\" stroke-width=\"%.1f\" d=\"%s\"><title>%s</title></path>\n",
                           cable.rate_mbps < fastest_ ? " slow" : "", cable.routed ? " routed" : "", class_of(mark),
                           width, path_text(curve(index)), xml_text(description(cable, mark)));
  }

  std::string description(const routing::Cable& cable, const CableMark* mark) const {
    if (mark == nullptr) return describe_cable(topology_, cable);
    if (!mark->about.empty()) return mark->about;
    if (mark->is_missing()) {
      return absl::StrCat(topology_.node(cable.a.node).name, " - ", topology_.node(cable.b.node).name, ": missing");
    }
    return absl::StrCat(mark->label, ": ", describe_cable(topology_, cable));
  }

  // Of a wire: what is marked, else its cables' names and its rate. Where there is no room, only marks have labels.
  std::string label(const routing::PhysicalCable& wire) {
    std::vector<std::string> marked;
    std::vector<std::string> names;
    const char* look = "";
    for (const routing::CableIndex each : wire.cables) {
      const routing::Cable& cable = topology_.cable(each);
      if (const std::string name = own_name(topology_, cable); !name.empty()) names.push_back(name);
      const CableMark* const mark = mark_of(cable);
      if (mark == nullptr) continue;
      look = class_of(mark);
      if (std::find(marked.begin(), marked.end(), mark->label) == marked.end()) marked.push_back(mark->label);
    }
    if (marked.empty() && physical_.cables.size() > kMaxLabels) return "";
    const std::string name = absl::StrJoin(names, "+");
    const std::string text = marked.empty() ? absl::StrCat(name, name.empty() ? "" : " ", rate_text(wire.rate_mbps))
                                            : absl::StrJoin(marked, ", ");
    return placed_label(curve(wire), layout_.labels[wire.cables.front().value], text, look, !marked.empty());
  }

  std::string placed_label(const Curve& along, double where, const std::string& text, const char* look, bool always) {
    const LabelSize size{routing::text_width(text, kLabelSize, routing::FontWeight::kBold) + kLabelRoom, kLabelHeight};
    std::optional<Place> at = room_on(along, where, size, taken_);
    if (!at && !always) return "";
    if (!at) at = along.at(where);
    taken_.take(Box::around(*at, size.width, size.height));
    return absl::StrFormat(
        "<rect fill=\"#fff\" fill-opacity=\"0.9\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\"/>\n"
        "<text class=\"rate%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
        at->x - size.width / 2, at->y - size.height / 2, size.width, size.height, look, at->x, at->y + 4,
        xml_text(text));
  }

  std::string node(std::uint32_t index) const {
    const routing::Node& node = topology_.nodes()[index];
    const NodeLook& look = marks_.looks.at(node.name);
    const Place& at = layout_.places[index];
    const double width = box_width(node.name);
    const std::string note = note_of(look);
    std::string svg = absl::StrFormat(
        "<rect class=\"node%s%s%s%s%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\"/>\n"
        "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
        look.is_switch ? " switch" : "", look.self ? " self" : "", look.draining ? " draining" : "",
        look.unreached || look.missing ? " unreached" : "", look.extra ? " extra" : "", at.x - width / 2,
        at.y - kBoxHeight / 2, width, kBoxHeight, look.is_switch ? 1 : 8, at.x, at.y + 4.5, xml_text(node.name));
    if (!note.empty()) {
      absl::StrAppend(&svg, absl::StrFormat("<text class=\"note\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", at.x,
                                            at.y + kBoxHeight / 2 + kNoteDrop, note));
    }
    return svg;
  }

  const Topology& topology_;
  const routing::TopologyShape shape_;
  const routing::PhysicalCables physical_;
  const PictureMarks& marks_;
  const TopologyLayout layout_;
  TakenPlaces taken_;
  std::uint64_t fastest_ = 1;
};

}  // namespace

std::string topology_svg(const Topology& topology, std::optional<routing::NodeIndex> self) {
  return topology_svg(topology, PictureMarks{.cables = {}, .looks = looks_by_name(topology, self), .remark = {}});
}

std::string topology_svg(const Topology& topology, const PictureMarks& marks) {
  const MarkedTopology shown = drawable_topology(topology, marks);
  return SvgDrawing(shown.drawn, shown.marks).text();
}

}  // namespace cableway::cli
