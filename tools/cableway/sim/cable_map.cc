#include "tools/cableway/sim/cable_map.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "routing/layout/text_width.h"
#include "routing/layout/topology_layout.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/short_cable_names.h"
#include "routing/topology/topology_kind.h"
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
constexpr std::size_t kMaxMapLabels = 100;
constexpr std::size_t kRanksInBox = 3;

constexpr std::array<double, kHeatLevels> kWidths = {1.5, 2.5, 3, 3.5, 4.5, 5.5};

class CableMap {
 public:
  explicit CableMap(const SimReport& report)
      : report_(report),
        topology_(report.topology),
        names_(topology_),
        ranks_(ranks_by_node(report)),
        layout_(lay_out(topology_, routing::recognise_shape(topology_), spacing())),
        cut_(topology_.cable_count()),
        busy_(wire_utilisations(report)) {
    for (const sim::CutEffect& effect : report.prediction.cuts) {
      if (!effect.happened) continue;
      for (const routing::CableIndex cable : effect.wire) cut_[cable.value] = true;
    }
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) {
      taken_.take(Box::around(layout_.places[i], box_width(i) + 4, kMapBoxHeight + 4));
    }
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) {
      constexpr int kSteps = 8;
      for (int step = 0; step <= kSteps; ++step) {
        taken_.hold(Box::around(curve(i).at(static_cast<double>(step) / kSteps), kLaneRoom, kLaneRoom));
      }
    }
  }

  std::string text() {
    std::string drawn;
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) absl::StrAppend(&drawn, cable(i));
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) absl::StrAppend(&drawn, node(i));
    absl::StrAppend(&drawn, labels());
    const Box& all = taken_.all();
    const double width = all.right - all.left + 2 * kMapMargin;
    const double height = all.bottom - all.top + 2 * kMapMargin;
    return absl::StrFormat(
               "<svg class=\"map\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"topology\" "
               "width=\"%.0f\" height=\"%.0f\" viewBox=\"%.1f %.1f %.1f %.1f\">\n",
               width, height, all.left - kMapMargin, all.top - kMapMargin, width, height) +
           drawn + "</svg>\n";
  }

 private:
  static std::vector<std::vector<std::size_t>> ranks_by_node(const SimReport& report) {
    std::vector<std::vector<std::size_t>> ranks(report.topology.node_count());
    for (std::size_t rank = 0; rank < report.request.ranks.size(); ++rank) {
      ranks[report.request.ranks[rank].value].push_back(rank);
    }
    return ranks;
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

  const sim::CableLoad& load(std::uint32_t index, bool from_a) const {
    return report_.prediction.cables[2ULL * index + (from_a ? 0 : 1)];
  }

  // A direction of a wire that its cables fill together is full, whatever the share of each.
  double drawn_utilisation(std::uint32_t index, bool from_a) const { return busy_[2ULL * index + (from_a ? 0 : 1)]; }

  std::string cable(std::uint32_t index) const {
    return absl::StrCat("<g", cut_[index] ? " class=\"cut\"" : "", ">", lane(index, true), lane(index, false),
                        "</g>\n");
  }

  // The arrow's place is clear of the far node's box.
  std::string lane(std::uint32_t index, bool from_a) const {
    const Curve whole = from_a ? curve(index) : curve(index).reversed();
    const Curve lane = whole.beside(kLaneGap);
    const double utilisation = drawn_utilisation(index, from_a);
    const int heat = heat_of(utilisation);
    const double width = kWidths[static_cast<std::size_t>(heat)];
    const Place tip = lane.at(0.62);
    const Place ahead = lane.along(0.62);
    const double size = kArrow + width / 2;
    const Place base{tip.x - ahead.x * size, tip.y - ahead.y * size};
    const routing::CableIndex cable{index};
    return absl::StrFormat(
        "<g class=\"h%d\"><title>%s %s: %s, %s</title><path class=\"lane\" stroke-width=\"%.1f\" d=\"M%.1f %.1fQ%.1f "
        "%.1f %.1f %.1f\"/><path class=\"arrow\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/></g>",
        heat, xml_text(names_.of(cable)), xml_text(direction_text(topology_, cable, from_a)), percent_text(utilisation),
        bytes_text(load(index, from_a).bytes), width, lane.begin.x, lane.begin.y, lane.control.x, lane.control.y,
        lane.end.x, lane.end.y, tip.x + ahead.x * size / 2, tip.y + ahead.y * size / 2, base.x - ahead.y * size * 0.8,
        base.y + ahead.x * size * 0.8, base.x + ahead.y * size * 0.8, base.y - ahead.x * size * 0.8);
  }

  // The hottest wires first: if there is no room for all labels, the others have none. Cut ones always have one.
  std::string labels() {
    const routing::PhysicalCables physical = routing::physical_cables(topology_);
    std::vector<bool> labelled(physical.cables.size());
    std::string svg;
    for (const CableBusyness& each : hottest_first(report_.prediction)) {
      const std::size_t wire = physical.place_of_cable[each.cable.value];
      if (labelled[wire]) continue;
      labelled[wire] = true;
      absl::StrAppend(&svg, label(physical.cables[wire].cables));
    }
    return svg;
  }

  // Of a wire.
  std::string label(const std::vector<routing::CableIndex>& cables) {
    const std::uint32_t first = cables.front().value;
    if (!cut_[first] && topology_.cable_count() > kMaxMapLabels) return "";
    const std::string text = label_text(cables);
    const LabelSize size{routing::text_width(text, kValuePixels, routing::FontWeight::kBold) + kValueRoom,
                         kValueHeight};
    const Place middle{layout_.width / 2, layout_.height / 2};
    const Curve along = wire_curve(topology_, layout_, cables);
    const double gap = kValueGap + routing::kTwinGap * static_cast<double>(cables.size() - 1) / 2;
    std::optional<Place> at = room_beside(along, layout_.labels[first], size, gap, middle, taken_);
    if (!at && !cut_[first]) return "";
    if (!at) at = place_beside(along, layout_.labels[first], size, gap, middle, true);
    taken_.take(Box::around(*at, size.width, size.height));
    return absl::StrFormat("<text class=\"value%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", cut_[first] ? " gone" : "",
                           at->x, at->y + 4, xml_text(text));
  }

  std::string label_text(const std::vector<routing::CableIndex>& cables) const {
    std::vector<std::string> names;
    double most = 0;
    for (const routing::CableIndex each : cables) {
      if (const std::string name = own_name(topology_, topology_.cable(each)); !name.empty()) names.push_back(name);
      most = std::max({most, drawn_utilisation(each.value, true), drawn_utilisation(each.value, false)});
    }
    const std::string name = routing::fitting_text(absl::StrJoin(names, "+"), kWidestName, kValuePixels);
    return absl::StrCat(name, name.empty() ? "" : " ",
                        cut_[cables.front().value] ? "cut" : absl::StrFormat("%.0f %%", 100 * most));
  }

  std::string note(std::uint32_t index) const {
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
    return absl::StrFormat(
        "<g><title>%s</title><rect class=\"node%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"9\"/>"
        "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">%s</text><text class=\"note\" x=\"%.1f\" "
        "y=\"%.1f\">%s</text></g>\n",
        xml_text(topology_.nodes()[index].name), ranks_[index].empty() ? " bare" : "", at.x - width / 2,
        at.y - kMapBoxHeight / 2, width, kMapBoxHeight, at.x, at.y - 1, xml_text(shown_name(index)), at.x, at.y + 12,
        note(index));
  }

  const SimReport& report_;
  const Topology& topology_;
  const routing::ShortCableNames names_;
  const std::vector<std::vector<std::size_t>> ranks_;  // by node
  const TopologyLayout layout_;
  TakenPlaces taken_;
  std::vector<bool> cut_;           // by cable
  const std::vector<double> busy_;  // by direction
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

std::string cable_map(const SimReport& report) {
  return CableMap(report).text();
}

}  // namespace cableway::cli
