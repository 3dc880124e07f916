#include "tools/cableway/sim/cable_map.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "routing/layout/switch_boxes.h"
#include "routing/layout/text_width.h"
#include "routing/layout/topology_layout.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology_kind.h"
#include "tools/cableway/picture/label_places.h"
#include "tools/cableway/picture/xml_text.h"
#include "tools/cableway/sim/map_lines.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

using routing::Place;
using routing::Topology;
using routing::TopologyLayout;

// Pixels.
constexpr double kNamePixels = 13;
constexpr double kNotePixels = 10.5;
constexpr double kValuePixels = 12;
constexpr double kMapBoxHeight = 36;
constexpr double kSmallestMapBox = 56;
constexpr double kMapBoxRoom = 20;
constexpr double kWidestName = 150;
constexpr double kLaneGap = 4.5;  // distance of a direction's lane from the middle of its cable
constexpr double kArrow = 6;
constexpr double kValueHeight = 14;
constexpr double kValueRoom = 4;
constexpr double kValueGap = 11;  // from the middle of a cable
constexpr double kMapMargin = 12;
constexpr double kLaneRoom = 14;  // of both lanes
constexpr double kBandRoom = 24;  // of a wire's band, beyond the middles of its outermost cables
constexpr std::size_t kMaxMapLabels = 100;
constexpr std::size_t kRanksInBox = 3;

constexpr std::array<double, kHeatLevels> kWidths = {1.5, 2.5, 3, 3.5, 4.5, 5.5};

class CableMap {
 public:
  explicit CableMap(const SimReport& report)
      : boxed_(boxed_topology(report)),
        topology_(boxed_.drawn),
        lines_(map_lines(report, boxed_)),
        physical_(routing::physical_cables(topology_)),
        ranks_(ranks_by_node(report)),
        layout_(lay_out(topology_, routing::recognise_shape(topology_), spacing())) {
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) {
      taken_.take(Box::around(layout_.places[i], box_width(i) + 4, kMapBoxHeight + 4));
    }
    for (const routing::PhysicalCable& wire : physical_.cables) {
      const double room = wire.cables.size() > 1 ? band_width(wire) : kLaneRoom;
      const Curve along = wire_curve(topology_, layout_, wire.cables);
      constexpr int kSteps = 8;
      for (int step = 0; step <= kSteps; ++step) {
        taken_.hold(Box::around(along.at(static_cast<double>(step) / kSteps), room, room));
      }
    }
  }

  DrawnMap draw() {
    std::string drawn;
    const std::string bands_below = bands();
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) absl::StrAppend(&drawn, cable(i));
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) absl::StrAppend(&drawn, node(i));
    absl::StrAppend(&drawn, labels());
    const Box& all = taken_.all();
    const double width = all.right - all.left + 2 * kMapMargin;
    const double height = all.bottom - all.top + 2 * kMapMargin;
    return {
        absl::StrFormat("<svg class=\"map\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"topology\" "
                        "width=\"%.0f\" height=\"%.0f\" viewBox=\"%.1f %.1f %.1f %.1f\">\n",
                        width, height, all.left - kMapMargin, all.top - kMapMargin, width, height) +
            bands_below + drawn + "</svg>\n",
        !bands_below.empty(), !boxed_.boxes.empty()};
  }

 private:
  std::vector<std::vector<std::size_t>> ranks_by_node(const SimReport& report) const {
    std::vector<std::vector<std::size_t>> ranks(topology_.node_count());
    for (std::size_t rank = 0; rank < report.request.ranks.size(); ++rank) {
      const routing::Node& node = report.topology.node(report.request.ranks[rank]);
      ranks[topology_.find_node(node.name)->value].push_back(rank);
    }
    return ranks;
  }

  bool is_switch(std::uint32_t node) const { return boxed_.boxes.contains(topology_.nodes()[node].name); }

  static double band_width(const routing::PhysicalCable& wire) {
    return routing::kTwinGap * static_cast<double>(wire.cables.size() - 1) + kBandRoom;
  }

  // The map is as wide as the page: a long name would leave no room for others.
  std::string shown_name(std::uint32_t node) const {
    return routing::fitting_text(topology_.nodes()[node].name, kWidestName, kNamePixels, routing::FontWeight::kBold);
  }

  double box_width(std::uint32_t node) const {
    const double name = routing::text_width(shown_name(node), kNamePixels, routing::FontWeight::kBold);
    return std::max({kSmallestMapBox, name + kMapBoxRoom, routing::text_width(note(node), kNotePixels) + kMapBoxRoom});
  }

  double spacing() const {
    double widest = kSmallestMapBox;
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) widest = std::max(widest, box_width(i));
    return widest + (topology_.cable_count() <= kMaxMapLabels ? 128 : 40);
  }

  Curve curve(std::uint32_t index) const {
    return Curve::of(layout_.places[topology_.cables()[index].a.node.value],
                     layout_.places[topology_.cables()[index].b.node.value], layout_.bends[index]);
  }

  static std::string path_text(const Curve& curve) {
    return absl::StrFormat("M%.1f %.1fQ%.1f %.1f %.1f %.1f", curve.begin.x, curve.begin.y, curve.control.x,
                           curve.control.y, curve.end.x, curve.end.y);
  }

  // Below the cables of each wire that is several.
  std::string bands() const {
    std::string svg;
    for (const routing::PhysicalCable& wire : physical_.cables) {
      if (wire.cables.size() < 2) continue;
      absl::StrAppend(&svg,
                      absl::StrFormat("<path class=\"wire\" stroke-width=\"%.1f\" d=\"%s\"><title>%s</title></path>\n",
                                      band_width(wire), path_text(wire_curve(topology_, layout_, wire.cables)),
                                      xml_text(absl::StrCat("one wire: ", wire.cables.size(), " cables, together ",
                                                            rate_text(wire.rate_mbps)))));
    }
    return svg;
  }

  std::string cable(std::uint32_t index) const {
    return absl::StrCat("<g", lines_[index].is_cut ? " class=\"cut\"" : "", ">", lane(index, true), lane(index, false),
                        "</g>\n");
  }

  // The arrow's place is clear of the far node's box.
  std::string lane(std::uint32_t index, bool from_a) const {
    const Curve whole = from_a ? curve(index) : curve(index).reversed();
    const Curve lane = whole.beside(kLaneGap);
    const MapLine::Direction& load = from_a ? lines_[index].from_a : lines_[index].from_b;
    const int heat = heat_of(load.utilisation);
    const double width = kWidths[static_cast<std::size_t>(heat)];
    const Place tip = lane.at(0.62);
    const Place ahead = lane.along(0.62);
    const double size = kArrow + width / 2;
    const Place base{tip.x - ahead.x * size, tip.y - ahead.y * size};
    return absl::StrFormat(
        "<g class=\"h%d\"><title>%s: %s, %s</title><path class=\"lane\" stroke-width=\"%.1f\" d=\"%s\"/><path "
        "class=\"arrow\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/></g>",
        heat, xml_text(load.title), percent_text(load.utilisation), bytes_text(load.bytes), width, path_text(lane),
        tip.x + ahead.x * size / 2, tip.y + ahead.y * size / 2, base.x - ahead.y * size * 0.8,
        base.y + ahead.x * size * 0.8, base.x + ahead.y * size * 0.8, base.y - ahead.x * size * 0.8);
  }

  // The hottest wires first: if there is no room for all labels, the others have none. Cut ones always have one.
  std::string labels() {
    std::vector<const routing::PhysicalCable*> wires;
    for (const routing::PhysicalCable& wire : physical_.cables) wires.push_back(&wire);
    std::stable_sort(wires.begin(), wires.end(),
                     [&](const auto* left, const auto* right) { return most_of(*left) > most_of(*right); });
    std::string svg;
    for (const routing::PhysicalCable* wire : wires) absl::StrAppend(&svg, label(*wire));
    return svg;
  }

  double most_of(const routing::PhysicalCable& wire) const {
    double most = 0;
    for (const routing::CableIndex each : wire.cables) most = std::max(most, lines_[each.value].most());
    return most;
  }

  std::string label(const routing::PhysicalCable& wire) {
    const std::uint32_t first = wire.cables.front().value;
    const bool is_cut = lines_[first].is_cut;
    if (!is_cut && topology_.cable_count() > kMaxMapLabels) return "";
    const std::string text = label_text(wire);
    const LabelSize size{routing::text_width(text, kValuePixels, routing::FontWeight::kBold) + kValueRoom,
                         kValueHeight};
    const Place middle{layout_.width / 2, layout_.height / 2};
    const Curve along = wire_curve(topology_, layout_, wire.cables);
    const double gap = wire.cables.size() > 1 ? band_width(wire) / 2 + 2 : kValueGap;
    std::optional<Place> at = room_beside(along, layout_.labels[first], size, gap, middle, taken_);
    if (!at && !is_cut) return "";
    if (!at) at = place_beside(along, layout_.labels[first], size, gap, middle, true);
    taken_.take(Box::around(*at, size.width, size.height));
    return absl::StrFormat("<text class=\"value%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", is_cut ? " gone" : "", at->x,
                           at->y + 4, xml_text(text));
  }

  std::string label_text(const routing::PhysicalCable& wire) const {
    std::vector<std::string> names;
    for (const routing::CableIndex each : wire.cables) {
      if (const std::string& name = lines_[each.value].name; !name.empty()) names.push_back(name);
    }
    const std::string name = routing::fitting_text(absl::StrJoin(names, "+"), kWidestName, kValuePixels);
    return absl::StrCat(
        name, name.empty() ? "" : " ",
        lines_[wire.cables.front().value].is_cut ? "cut" : absl::StrFormat("%.0f %%", 100 * most_of(wire)));
  }

  std::string note(std::uint32_t index) const {
    if (is_switch(index)) return absl::StrCat(topology_.adjacencies({index}).size(), " ports");
    const std::vector<std::size_t>& ranks = ranks_[index];
    if (ranks.empty()) return "no rank";
    const std::vector<std::size_t> shown(
        ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), kRanksInBox)));
    return absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", absl::StrJoin(shown, ", "),
                        shown.size() < ranks.size() ? ", .." : "");
  }

  std::string node(std::uint32_t index) const {
    const Place& at = layout_.places[index];
    const double width = box_width(index);
    const char* const look = is_switch(index) ? " switch" : ranks_[index].empty() ? " bare" : "";
    return absl::StrFormat(
        "<g><title>%s</title><rect class=\"node%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\"/>"
        "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">%s</text><text class=\"note\" x=\"%.1f\" "
        "y=\"%.1f\">%s</text></g>\n",
        xml_text(topology_.nodes()[index].name), look, at.x - width / 2, at.y - kMapBoxHeight / 2, width, kMapBoxHeight,
        is_switch(index) ? 1 : 9, at.x, at.y - 1, xml_text(shown_name(index)), at.x, at.y + 12, note(index));
  }

  const routing::BoxedTopology boxed_;
  const Topology& topology_;          // what is drawn
  const std::vector<MapLine> lines_;  // by cable
  const routing::PhysicalCables physical_;
  const std::vector<std::vector<std::size_t>> ranks_;  // by node
  const TopologyLayout layout_;
  TakenPlaces taken_;
};

}  // namespace

int heat_of(double utilisation) {
  constexpr std::array<double, 4> kSteps = {0.25, 0.5, 0.75, 0.9};
  if (utilisation < 0.0005) return 0;
  return 1 + static_cast<int>(std::upper_bound(kSteps.begin(), kSteps.end(), utilisation) - kSteps.begin());
}

const char* heat_name(int heat) {
  constexpr std::array<const char*, kHeatLevels> kNames = {"idle",       "below 25 %", "below 50 %",
                                                           "below 75 %", "below 90 %", "90 % and more"};
  return kNames[static_cast<std::size_t>(heat)];
}

DrawnMap cable_map(const SimReport& report) {
  return CableMap(report).draw();
}

}  // namespace cableway::cli
