#include "tools/cableway/picture/topology_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/layout/topology_layout.h"
#include "routing/topology/topology_kind.h"
#include "tools/cableway/picture/node_look.h"
#include "tools/cableway/picture/xml_text.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

using routing::Place;
using routing::Topology;
using routing::TopologyLayout;

// Pixels.
constexpr double kCharacter = 8;
constexpr double kBoxHeight = 34;
constexpr double kSmallestBox = 54;
constexpr double kTitleHeight = 40;
constexpr double kLegendHeight = 30;
constexpr double kLegendLine = 16;
constexpr double kLeastWidth = 420;  // for the legend
constexpr std::size_t kMaxLabels = 200;

constexpr char kStyle[] =
    "text{font:13px sans-serif;text-anchor:middle}"
    ".title{font-size:16px;font-weight:bold;text-anchor:start}"
    ".legend{font-size:11px;text-anchor:start;fill:#555}"
    ".cable{fill:none;stroke:#3b6ea5}"
    ".slow{stroke:#c77700}"
    ".routed{stroke-dasharray:6 4}"
    ".missing{stroke:#c62828;stroke-dasharray:2 5}"
    ".wrong{stroke:#8e24aa}"
    ".rate{font-size:11px;fill:#333;paint-order:stroke;stroke:#fff;stroke-width:4px}"
    ".node{fill:#eef4fb;stroke:#3b6ea5;stroke-width:1.5}"
    ".self{stroke-width:3.5}"
    ".draining{fill:#d0d0d0;stroke:#777}"
    ".unreached{fill:#fff;stroke:#c62828;stroke-dasharray:5 4}"
    ".extra{stroke:#8e24aa}"
    ".rate.missing{fill:#c62828;stroke-dasharray:none;stroke:#fff}"
    ".rate.wrong{fill:#8e24aa;font-weight:bold;stroke:#fff}"
    ".note{font-size:10px;fill:#555}";

double box_width(const std::string& name) {
  return std::max(kSmallestBox, static_cast<double>(name.size()) * kCharacter + 16);
}

class SvgDrawing {
 public:
  SvgDrawing(const Topology& topology, const PictureMarks& marks)
      : topology_(topology),
        shape_(routing::recognise_shape(topology)),
        marks_(marks),
        layout_(lay_out(topology, shape_, spacing())) {
    for (const routing::Cable& cable : topology.cables()) fastest_ = std::max(fastest_, cable.rate_mbps);
  }

  std::string text() const {
    const double width = std::max(layout_.width, kLeastWidth);
    const std::vector<std::string> lines = legend_lines();
    const double height =
        layout_.height + kTitleHeight + kLegendHeight + kLegendLine * static_cast<double>(lines.size() - 1);
    std::string svg = absl::StrFormat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
        "<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, height, width, height, kStyle);
    absl::StrAppend(&svg, "<text class=\"title\" x=\"16\" y=\"26\">", title(), "</text>\n");
    absl::StrAppend(
        &svg, absl::StrFormat("<g transform=\"translate(%.1f %.1f)\">\n", (width - layout_.width) / 2, kTitleHeight));
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) absl::StrAppend(&svg, line(i));
    if (topology_.cable_count() <= kMaxLabels) {
      for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) absl::StrAppend(&svg, label(i));
    }
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) absl::StrAppend(&svg, node(i));
    absl::StrAppend(&svg, "</g>\n", legend(lines, height - 12), "</svg>\n");
    return svg;
  }

 private:
  double spacing() const {
    double widest = kSmallestBox;
    for (const routing::Node& node : topology_.nodes()) widest = std::max(widest, box_width(node.name));
    return widest + 110;
  }

  const CableMark* mark_of(const routing::Cable& cable) const {
    const auto mark = marks_.cables.find(cable.name);
    return mark == marks_.cables.end() ? nullptr : &mark->second;
  }

  static const char* class_of(const CableMark* mark) {
    if (mark == nullptr) return "";
    return mark->is_missing ? " missing" : " wrong";
  }

  // Without the missing ones.
  std::size_t node_count() const {
    return static_cast<std::size_t>(
        std::count_if(topology_.nodes().begin(), topology_.nodes().end(),
                      [&](const auto& node) { return !marks_.looks.at(node.name).missing; }));
  }
  std::size_t cable_count() const {
    return static_cast<std::size_t>(
        std::count_if(topology_.cables().begin(), topology_.cables().end(), [&](const routing::Cable& cable) {
          const CableMark* mark = mark_of(cable);
          return mark == nullptr || !mark->is_missing;
        }));
  }

  std::string title() const {
    const std::size_t nodes = node_count();
    const std::size_t cables = cable_count();
    return xml_text(absl::StrCat("cluster ", topology_.cluster(), ": ", std::string(kind_name(shape_.kind)), ", ",
                                 nodes, nodes == 1 ? " node, " : " nodes, ", cables,
                                 cables == 1 ? " cable" : " cables"));
  }

  std::vector<std::string> legend_lines() const {
    std::vector<std::string> lines = {"thick box: the node that was queried; grey: draining",
                                      "red, dashed: not reached; orange: slower than the fastest"};
    if (!marks_.remark.empty()) {
      lines.insert(lines.begin(), {marks_.remark, "red, dotted: missing; purple: not as expected"});
    }
    return lines;
  }

  static std::string legend(const std::vector<std::string>& lines, double bottom) {
    std::string text;
    double y = bottom - kLegendLine * static_cast<double>(lines.size() - 1);
    for (const std::string& line : lines) {
      absl::StrAppend(&text,
                      absl::StrFormat("<text class=\"legend\" x=\"16\" y=\"%.1f\">%s</text>\n", y, xml_text(line)));
      y += kLegendLine;
    }
    return text;
  }

  // A point of a cable's curve: `where` is 0 at end a, 1 at end b.
  Place point(std::uint32_t cable, double where) const {
    const Place middle = control(cable);
    const Place& a = layout_.places[topology_.cables()[cable].a.node.value];
    const Place& b = layout_.places[topology_.cables()[cable].b.node.value];
    const double rest = 1 - where;
    return {rest * rest * a.x + 2 * rest * where * middle.x + where * where * b.x,
            rest * rest * a.y + 2 * rest * where * middle.y + where * where * b.y};
  }

  // The control point is twice as far from the straight line as the curve gets.
  Place control(std::uint32_t cable) const {
    const Place& a = layout_.places[topology_.cables()[cable].a.node.value];
    const Place& b = layout_.places[topology_.cables()[cable].b.node.value];
    const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1.0);
    const double offset = 2 * layout_.bends[cable] / length;
    return {(a.x + b.x) / 2 - (b.y - a.y) * offset, (a.y + b.y) / 2 + (b.x - a.x) * offset};
  }

  std::string line(std::uint32_t index) const {
    const routing::Cable& cable = topology_.cables()[index];
    const Place& a = layout_.places[cable.a.node.value];
    const Place& b = layout_.places[cable.b.node.value];
    const Place middle = control(index);
    // Rates span decades, so the width is logarithmic.
    const double share = static_cast<double>(cable.rate_mbps) / static_cast<double>(fastest_);
    const double width = std::clamp(4 + std::log10(share), 1.5, 4.0);
    const CableMark* const mark = mark_of(cable);
    const std::string description =
        mark == nullptr ? describe_cable(topology_, cable)
        : mark->is_missing
            ? absl::StrCat(topology_.node(cable.a.node).name, " - ", topology_.node(cable.b.node).name, ": missing")
            : absl::StrCat(mark->label, ": ", describe_cable(topology_, cable));
    return absl::StrFormat(
        "<path class=\"cable%s%s%s\" stroke-width=\"%.1f\" d=\"M%.1f %.1fQ%.1f %.1f %.1f "
        "%.1f\"><title>%s</title></path>\n",
        cable.rate_mbps < fastest_ ? " slow" : "", cable.routed ? " routed" : "", class_of(mark), width, a.x, a.y,
        middle.x, middle.y, b.x, b.y, xml_text(description));
  }

  std::string label(std::uint32_t index) const {
    const routing::Cable& cable = topology_.cables()[index];
    const Place at = point(index, layout_.labels[index]);
    const std::string name = own_name(topology_, cable);
    const CableMark* const mark = mark_of(cable);
    const std::string text =
        mark == nullptr ? absl::StrCat(name, name.empty() ? "" : " ", rate_text(cable.rate_mbps)) : mark->label;
    return absl::StrFormat("<text class=\"rate%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class_of(mark), at.x, at.y + 4,
                           xml_text(text));
  }

  std::string node(std::uint32_t index) const {
    const routing::Node& node = topology_.nodes()[index];
    const NodeLook& look = marks_.looks.at(node.name);
    const Place& at = layout_.places[index];
    const double width = box_width(node.name);
    const std::string note = note_of(look);
    std::string svg = absl::StrFormat(
        "<rect class=\"node%s%s%s%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"8\"/>\n"
        "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
        look.self ? " self" : "", look.draining ? " draining" : "", look.unreached || look.missing ? " unreached" : "",
        look.extra ? " extra" : "", at.x - width / 2, at.y - kBoxHeight / 2, width, kBoxHeight, at.x, at.y + 4.5,
        xml_text(node.name));
    if (!note.empty()) {
      absl::StrAppend(&svg, absl::StrFormat("<text class=\"note\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", at.x,
                                            at.y + kBoxHeight / 2 + 12, note));
    }
    return svg;
  }

  const Topology& topology_;
  const routing::TopologyShape shape_;
  const PictureMarks& marks_;
  const TopologyLayout layout_;
  std::uint64_t fastest_ = 1;
};

}  // namespace

std::string topology_svg(const Topology& topology, std::optional<routing::NodeIndex> self) {
  return topology_svg(topology, PictureMarks{.cables = {}, .looks = looks_by_name(topology, self), .remark = {}});
}

std::string topology_svg(const Topology& topology, const PictureMarks& marks) {
  return SvgDrawing(topology, marks).text();
}

}  // namespace cableway::cli
