// Where the labels of a picture go, so that none covers a node, or another label, or is cut off.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_LABEL_PLACES_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_LABEL_PLACES_H_

#include <optional>
#include <vector>

#include "routing/layout/topology_layout.h"
#include "routing/topology/topology.h"

namespace cableway::cli {

// A quadratic curve, as cables are drawn.
struct Curve {
  routing::Place begin;
  routing::Place control;
  routing::Place end;

  // `bend`: how far its middle is from the straight line, as in TopologyLayout::bends.
  static Curve of(const routing::Place& a, const routing::Place& b, double bend);

  // From 0 at the beginning to 1 at the end.
  routing::Place at(double where) const;
  // The unit tangent at a place.
  routing::Place along(double where) const;
  Curve reversed() const { return {end, control, begin}; }
  // A parallel curve to the right, seen from `begin`.
  Curve beside(double distance) const;
};

// The middle of cables of one wire, from end a of the first.
Curve wire_curve(const routing::Topology& topology, const routing::TopologyLayout& layout,
                 const std::vector<routing::CableIndex>& cables);

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  static Box around(const routing::Place& middle, double width, double height) {
    return {middle.x - width / 2, middle.y - height / 2, middle.x + width / 2, middle.y + height / 2};
  }
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  // Grown so that it holds the other, too.
  void hold(const Box& other);
};

// What is drawn already, and all of it in one box.
class TakenPlaces {
 public:
  // `box` is taken from now on.
  void take(const Box& box);
  // `box` is part of the picture, and is not taken.
  void hold(const Box& box);
  bool is_free(const Box& box) const;
  const Box& all() const { return all_; }

 private:
  std::vector<Box> taken_;
  Box all_;
  bool is_empty_ = true;
};

// Of a label, whose middle the functions below return.
struct LabelSize {
  double width = 0;
  double height = 0;
};

// On the curve, near `where` if there is room, else beside it.
std::optional<routing::Place> room_on(const Curve& curve, double where, LabelSize size, const TakenPlaces& taken);
// Beside the curve, `gap` from it, on the side away from `middle` if there is room, else on the other.
std::optional<routing::Place> room_beside(const Curve& curve, double where, LabelSize size, double gap,
                                          const routing::Place& middle, const TakenPlaces& taken);
// Such a place, whatever is there.
routing::Place place_beside(const Curve& curve, double where, LabelSize size, double gap, const routing::Place& middle,
                            bool outward);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_LABEL_PLACES_H_
