#include "tools/cableway/sim/cable_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
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
constexpr double kNameCharacter = 8;
constexpr double kMapBoxHeight = 36;
constexpr double kSmallestMapBox = 56;
constexpr double kLaneGap = 4.5;  // distance of a direction's lane from the middle of its cable
constexpr double kArrow = 6;
constexpr double kLabelCharacter = 6.6;
constexpr double kLabelHeight = 12;
constexpr double kLabelGap = 11;  // from the middle of a cable
// Space around the outermost boxes, for arcs and labels.
constexpr double kRoomBeside = 125;
constexpr double kRoomAbove = 64;
constexpr std::size_t kMaxMapLabels = 100;
constexpr std::size_t kRanksInBox = 3;

constexpr std::array<double, kHeatLevels> kWidths = {1.5, 2.5, 3, 3.5, 4.5, 5.5};

double map_box_width(const std::string& name) {
  return std::max(kSmallestMapBox, static_cast<double>(name.size()) * kNameCharacter + 18);
}

// A quadratic curve.
struct Curve {
  Place begin;
  Place control;
  Place end;

  Place at(double where) const {
    const double rest = 1 - where;
    return {rest * rest * begin.x + 2 * rest * where * control.x + where * where * end.x,
            rest * rest * begin.y + 2 * rest * where * control.y + where * where * end.y};
  }
  // The unit tangent at a place.
  Place along(double where) const {
    const double x = (1 - where) * (control.x - begin.x) + where * (end.x - control.x);
    const double y = (1 - where) * (control.y - begin.y) + where * (end.y - control.y);
    const double length = std::max(std::hypot(x, y), 1e-9);
    return {x / length, y / length};
  }
  Curve reversed() const { return {end, control, begin}; }
  // A parallel curve to the right, seen from `begin`.
  Curve beside(double distance) const {
    const double length = std::max(std::hypot(end.x - begin.x, end.y - begin.y), 1e-9);
    const double x = -(end.y - begin.y) / length * distance;
    const double y = (end.x - begin.x) / length * distance;
    return {{begin.x + x, begin.y + y}, {control.x + x, control.y + y}, {end.x + x, end.y + y}};
  }
};

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  static Box around(const Place& middle, double width, double height) {
    return {middle.x - width / 2, middle.y - height / 2, middle.x + width / 2, middle.y + height / 2};
  }
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

class CableMap {
 public:
  explicit CableMap(const SimReport& report)
      : report_(report),
        topology_(report.topology),
        widest_(widest_box(report.topology)),
        layout_(lay_out(topology_, routing::recognise_shape(topology_), spacing())),
        ranks_(topology_.node_count()),
        cut_(topology_.cable_count()) {
    for (std::size_t rank = 0; rank < report.request.ranks.size(); ++rank) {
      ranks_[report.request.ranks[rank].value].push_back(rank);
    }
    for (const sim::CutEffect& effect : report.prediction.cuts) {
      if (!effect.happened) continue;
      for (const routing::CableIndex cable : effect.wire) cut_[cable.value] = true;
    }
  }

  std::string text() const {
    // The layout's margin is larger than needed here.
    const double spare_x = std::max(0.0, layout_.places.empty() ? 0 : leftmost() - kRoomBeside - widest_ / 2);
    const double spare_y = std::max(0.0, layout_.places.empty() ? 0 : topmost() - kRoomAbove - kMapBoxHeight / 2);
    const double width = layout_.width - 2 * spare_x;
    const double height = layout_.height - 2 * spare_y;
    std::string svg = absl::StrFormat(
        "<svg class=\"map\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"topology\" width=\"%.0f\" "
        "height=\"%.0f\" viewBox=\"%.0f %.0f %.0f %.0f\">\n",
        width, height, spare_x, spare_y, width, height);
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) absl::StrAppend(&svg, cable(i));
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) absl::StrAppend(&svg, node(i));
    return absl::StrCat(svg, labels(), "</svg>\n");
  }

 private:
  static double widest_box(const Topology& topology) {
    double widest = kSmallestMapBox;
    for (const routing::Node& node : topology.nodes()) widest = std::max(widest, map_box_width(node.name));
    return widest;
  }
  double spacing() const { return widest_ + (topology_.cable_count() <= kMaxMapLabels ? 128 : 40); }
  double leftmost() const {
    return std::min_element(layout_.places.begin(), layout_.places.end(),
                            [](const Place& a, const Place& b) { return a.x < b.x; })
        ->x;
  }
  double topmost() const {
    return std::min_element(layout_.places.begin(), layout_.places.end(),
                            [](const Place& a, const Place& b) { return a.y < b.y; })
        ->y;
  }

  // The control point is twice as far from the straight line as the curve gets.
  Curve curve(std::uint32_t index) const {
    const Place& a = layout_.places[topology_.cables()[index].a.node.value];
    const Place& b = layout_.places[topology_.cables()[index].b.node.value];
    const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1.0);
    const double offset = 2 * layout_.bends[index] / length;
    return {a, {(a.x + b.x) / 2 - (b.y - a.y) * offset, (a.y + b.y) / 2 + (b.x - a.x) * offset}, b};
  }

  const sim::CableLoad& load(std::uint32_t index, bool from_a) const {
    return report_.prediction.cables[2ULL * index + (from_a ? 0 : 1)];
  }

  std::string cable(std::uint32_t index) const {
    return absl::StrCat("<g", cut_[index] ? " class=\"cut\"" : "", ">", lane(index, true), lane(index, false),
                        "</g>\n");
  }

  // The arrow's place is clear of the far node's box.
  std::string lane(std::uint32_t index, bool from_a) const {
    const Curve whole = from_a ? curve(index) : curve(index).reversed();
    const Curve lane = whole.beside(kLaneGap);
    const double utilisation = load(index, from_a).utilisation;
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
        heat, xml_text(topology_.cable(cable).name), xml_text(direction_text(topology_, cable, from_a)),
        percent_text(utilisation), bytes_text(load(index, from_a).bytes), width, lane.begin.x, lane.begin.y,
        lane.control.x, lane.control.y, lane.end.x, lane.end.y, tip.x + ahead.x * size / 2, tip.y + ahead.y * size / 2,
        base.x - ahead.y * size * 0.8, base.y + ahead.x * size * 0.8, base.x + ahead.y * size * 0.8,
        base.y - ahead.x * size * 0.8);
  }

  // The hottest cables first: if there is no room for all labels, the others have none. Cut cables always have one.
  std::string labels() const {
    std::vector<Box> taken;
    taken.reserve(topology_.node_count() + topology_.cable_count());
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) {
      taken.push_back(Box::around(layout_.places[i], map_box_width(topology_.nodes()[i].name), kMapBoxHeight));
    }
    std::string svg;
    for (const CableBusyness& each : hottest_first(report_.prediction)) {
      const std::uint32_t index = each.cable.value;
      if (!cut_[index] && topology_.cable_count() > kMaxMapLabels) continue;
      const std::string text = label_text(index, each.most());
      const double width = kLabelCharacter * static_cast<double>(text.size());
      const std::optional<Place> at = find_room(index, width, taken);
      if (!at) continue;
      taken.push_back(Box::around(*at, width, kLabelHeight));
      absl::StrAppend(&svg, absl::StrFormat("<text class=\"value%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                                            cut_[index] ? " gone" : "", at->x, at->y + 4, xml_text(text)));
    }
    return svg;
  }

  std::string label_text(std::uint32_t index, double utilisation) const {
    const std::string name = own_name(topology_, topology_.cables()[index]);
    return absl::StrCat(name, name.empty() ? "" : " ",
                        cut_[index] ? "cut" : absl::StrFormat("%.0f %%", 100 * utilisation));
  }

  // A free place beside the cable.
  std::optional<Place> find_room(std::uint32_t index, double width, const std::vector<Box>& taken) const {
    const Curve cable = curve(index);
    for (const double where : {layout_.labels[index], 0.5, 0.4, 0.6, 0.3, 0.7}) {
      for (const bool outward : {true, false}) {
        const Place at = beside(cable, where, width, outward);
        const Box box = Box::around(at, width, kLabelHeight);
        if (std::none_of(taken.begin(), taken.end(), [&](const Box& other) { return box.overlaps(other); })) return at;
      }
    }
    if (!cut_[index]) return std::nullopt;
    return beside(cable, layout_.labels[index], width, true);
  }

  // The middle of a text of this width that does not touch the cable: `outward` is the side away from the middle of the
  // drawing.
  Place beside(const Curve& curve, double where, double width, bool outward) const {
    const Place at = curve.at(where);
    const Place ahead = curve.along(where);
    Place aside{-ahead.y, ahead.x};
    const double away = aside.x * (at.x - layout_.width / 2) + aside.y * (at.y - layout_.height / 2);
    if ((away > 0) != outward) aside = {-aside.x, -aside.y};
    const double distance = kLabelGap + std::abs(aside.x) * width / 2 + std::abs(aside.y) * kLabelHeight / 2;
    return {at.x + aside.x * distance, at.y + aside.y * distance};
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
    const std::string& name = topology_.nodes()[index].name;
    const Place& at = layout_.places[index];
    const double width = map_box_width(name);
    return absl::StrFormat(
        "<rect class=\"node%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"9\"/><text class=\"name\" "
        "x=\"%.1f\" y=\"%.1f\">%s</text><text class=\"note\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
        ranks_[index].empty() ? " bare" : "", at.x - width / 2, at.y - kMapBoxHeight / 2, width, kMapBoxHeight, at.x,
        at.y - 1, xml_text(name), at.x, at.y + 12, note(index));
  }

  const SimReport& report_;
  const Topology& topology_;
  const double widest_;  // of the nodes' boxes
  const TopologyLayout layout_;
  std::vector<std::vector<std::size_t>> ranks_;  // by node
  std::vector<bool> cut_;                        // by cable
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
