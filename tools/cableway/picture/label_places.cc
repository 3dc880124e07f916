#include "tools/cableway/picture/label_places.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cableway::cli {
namespace {

using routing::Place;

// In the order in which they are tried, after the wanted one.
constexpr std::array<double, 13> kWheres = {0.5, 0.42, 0.58, 0.36, 0.64, 0.3, 0.7, 0.25, 0.75, 0.2, 0.8, 0.15, 0.85};
constexpr double kBesideGap = 4;

Place middle_of(const Curve& curve) {
  return {(curve.begin.x + curve.end.x) / 2, (curve.begin.y + curve.end.y) / 2};
}

}  // namespace

// The control point is twice as far from the straight line as the curve gets.
Curve Curve::of(const Place& a, const Place& b, double bend) {
  const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1.0);
  const double offset = 2 * bend / length;
  return {a, {(a.x + b.x) / 2 - (b.y - a.y) * offset, (a.y + b.y) / 2 + (b.x - a.x) * offset}, b};
}

Place Curve::at(double where) const {
  const double rest = 1 - where;
  return {rest * rest * begin.x + 2 * rest * where * control.x + where * where * end.x,
          rest * rest * begin.y + 2 * rest * where * control.y + where * where * end.y};
}

Place Curve::along(double where) const {
  const double x = (1 - where) * (control.x - begin.x) + where * (end.x - control.x);
  const double y = (1 - where) * (control.y - begin.y) + where * (end.y - control.y);
  const double length = std::max(std::hypot(x, y), 1e-9);
  return {x / length, y / length};
}

Curve Curve::beside(double distance) const {
  const double length = std::max(std::hypot(end.x - begin.x, end.y - begin.y), 1e-9);
  const double x = -(end.y - begin.y) / length * distance;
  const double y = (end.x - begin.x) / length * distance;
  return {{begin.x + x, begin.y + y}, {control.x + x, control.y + y}, {end.x + x, end.y + y}};
}

Curve wire_curve(const routing::Topology& topology, const routing::TopologyLayout& layout,
                 const std::vector<routing::CableIndex>& cables) {
  const routing::Cable& first = topology.cable(cables.front());
  double bend = 0;
  for (const routing::CableIndex each : cables) {
    const double own = layout.bends[each.value];
    bend += topology.cable(each).a.node == first.a.node ? own : -own;
  }
  return Curve::of(layout.places[first.a.node.value], layout.places[first.b.node.value],
                   bend / static_cast<double>(cables.size()));
}

void Box::hold(const Box& other) {
  left = std::min(left, other.left);
  top = std::min(top, other.top);
  right = std::max(right, other.right);
  bottom = std::max(bottom, other.bottom);
}

void TakenPlaces::take(const Box& box) {
  taken_.push_back(box);
  hold(box);
}

void TakenPlaces::hold(const Box& box) {
  if (is_empty_) all_ = box;
  is_empty_ = false;
  all_.hold(box);
}

bool TakenPlaces::is_free(const Box& box) const {
  return std::none_of(taken_.begin(), taken_.end(), [&](const Box& other) { return box.overlaps(other); });
}

std::optional<Place> room_on(const Curve& curve, double where, LabelSize size, const TakenPlaces& taken) {
  const auto try_at = [&](double each) -> std::optional<Place> {
    const Place at = curve.at(each);
    return taken.is_free(Box::around(at, size.width, size.height)) ? std::optional(at) : std::nullopt;
  };
  if (const std::optional<Place> at = try_at(where)) return at;
  for (const double each : kWheres) {
    if (const std::optional<Place> at = try_at(each)) return at;
  }
  return room_beside(curve, where, size, kBesideGap, middle_of(curve), taken);
}

std::optional<Place> room_beside(const Curve& curve, double where, LabelSize size, double gap, const Place& middle,
                                 const TakenPlaces& taken) {
  const auto try_at = [&](double each) -> std::optional<Place> {
    for (const bool outward : {true, false}) {
      const Place at = place_beside(curve, each, size, gap, middle, outward);
      if (taken.is_free(Box::around(at, size.width, size.height))) return at;
    }
    return std::nullopt;
  };
  if (const std::optional<Place> at = try_at(where)) return at;
  for (const double each : kWheres) {
    if (const std::optional<Place> at = try_at(each)) return at;
  }
  return std::nullopt;
}

Place place_beside(const Curve& curve, double where, LabelSize size, double gap, const Place& middle, bool outward) {
  const Place at = curve.at(where);
  const Place ahead = curve.along(where);
  Place aside{-ahead.y, ahead.x};
  const double away = aside.x * (at.x - middle.x) + aside.y * (at.y - middle.y);
  if ((away > 0) != outward) aside = {-aside.x, -aside.y};
  const double distance = gap + std::abs(aside.x) * size.width / 2 + std::abs(aside.y) * size.height / 2;
  return {at.x + aside.x * distance, at.y + aside.y * distance};
}

}  // namespace cableway::cli
