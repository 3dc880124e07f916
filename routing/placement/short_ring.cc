#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

#include "routing/placement/shortest_ring.h"

namespace cableway::routing {
namespace {

constexpr std::size_t kMaxStarts = 8;
constexpr std::size_t kLongestSegment = 3;
constexpr std::uint64_t kMaxSteps = 300'000'000;

// The length of a ring; the two sums are held apart because they may overflow a RingDistance.
struct RingLength {
  std::uint64_t relays = 0;
  std::uint64_t latency_ns = 0;

  void add(RingDistance distance) {
    relays += distance >> kRingLatencyBits;
    latency_ns += distance & (kOneRelay - 1);
  }
  friend auto operator<=>(const RingLength&, const RingLength&) = default;
};

RingLength length_of(const RingDistances& distances, const Ring& ring) {
  RingLength length;
  for (std::size_t i = 0; i < ring.size(); ++i) length.add(distances(ring[i], ring[(i + 1) % ring.size()]));
  return length;
}

enum class Among { kLowest, kLeastFree };  // tie-break between nearest nodes

// Repeatedly appends the nearest remaining node. Ties go to the node with the fewest remaining nodes at one cable's
// distance (H. C. von Warnsdorff's rule for the knight's tour, 1823), as it may soon be hard to reach; or to the
// lowest.
Ring by_nearest(const RingDistances& distances, std::size_t start, Among among) {
  const std::size_t count = distances.count();
  std::vector<bool> used(count, false);
  std::vector<std::size_t> free_neighbours(count, 0);
  const auto are_neighbours = [&](std::size_t a, std::size_t b) { return a != b && distances(a, b) < kOneRelay; };
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) free_neighbours[a] += are_neighbours(a, b) ? 1 : 0;
  }
  Ring ring;
  for (std::size_t node = start;;) {
    ring.push_back(node);
    used[node] = true;
    if (ring.size() == count) return ring;
    for (std::size_t other = 0; other < count; ++other) free_neighbours[other] -= are_neighbours(node, other) ? 1 : 0;
    std::tuple<RingDistance, std::size_t, std::size_t> best = {std::numeric_limits<RingDistance>::max(), 0, 0};
    for (std::size_t next = 0; next < count; ++next) {
      if (used[next]) continue;
      best = std::min(best, {distances(node, next), among == Among::kLeastFree ? free_neighbours[next] : 0, next});
    }
    node = std::get<2>(best);
  }
}

// Improves a ring by local exchanges until none shortens it or the step budget is used up.
class Improvement {
 public:
  Improvement(const RingDistances& distances, std::uint64_t& steps_left)
      : distances_(distances), steps_left_(steps_left) {}

  void improve(Ring& ring) {
    while (steps_left_ > 0 && (improve_by_turning(ring) || improve_by_moving(ring))) {
    }
  }

 private:
  bool take_steps(std::size_t count) {
    steps_left_ -= std::min<std::uint64_t>(steps_left_, count);
    return steps_left_ > 0;
  }

  // 2-opt: replaces two steps by reversing the part between them.
  bool improve_by_turning(Ring& ring) {
    bool has_improved = false;
    for (std::size_t i = 0; i + 2 < ring.size() && take_steps(ring.size() - i); ++i) {
      for (std::size_t j = i + 2; j < ring.size(); ++j) {
        const std::size_t after_j = ring[(j + 1) % ring.size()];
        const RingDistance now = distances_(ring[i], ring[i + 1]) + distances_(ring[j], after_j);
        if (distances_(ring[i], ring[j]) + distances_(ring[i + 1], after_j) >= now) continue;
        std::reverse(ring.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                     ring.begin() + static_cast<std::ptrdiff_t>(j) + 1);
        has_improved = true;
      }
    }
    return has_improved;
  }

  // Or-opt: moves up to kLongestSegment consecutive nodes to another position, reversed or not.
  bool improve_by_moving(Ring& ring) {
    bool has_improved = false;
    for (std::size_t length = 1; length <= kLongestSegment && length + 2 < ring.size(); ++length) {
      for (std::size_t begin = 1; begin + length <= ring.size() && take_steps(2 * ring.size()); ++begin) {
        has_improved = move_segment(ring, begin, begin + length) || has_improved;
      }
    }
    return has_improved;
  }

  bool move_segment(Ring& ring, std::size_t begin, std::size_t end) {
    const std::size_t count = ring.size();
    const std::size_t first = ring[begin];
    const std::size_t last = ring[end - 1];
    const RingDistance taken_out = distances_(ring[begin - 1], first) + distances_(last, ring[end % count]);
    const RingDistance closed = distances_(ring[begin - 1], ring[end % count]);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + 1 >= begin && i < end) continue;  // next to the segment or inside it
      const std::size_t from = ring[i];
      const std::size_t to = ring[(i + 1) % count];
      const RingDistance now = taken_out + distances_(from, to);
      const RingDistance straight = closed + distances_(from, first) + distances_(last, to);
      const RingDistance turned = closed + distances_(from, last) + distances_(first, to);
      if (std::min(straight, turned) >= now) continue;
      const auto at = [&](std::size_t place) { return ring.begin() + static_cast<std::ptrdiff_t>(place); };
      if (turned < straight) std::reverse(at(begin), at(end));
      if (i < begin) {
        std::rotate(at(i + 1), at(begin), at(end));
      } else {
        std::rotate(at(begin), at(end), at(i + 1));
      }
      return true;
    }
    return false;
  }

  const RingDistances& distances_;
  std::uint64_t& steps_left_;
};

}  // namespace

bool is_provably_shortest(const RingDistances& distances, const Ring& ring) {
  RingLength both_sides;  // summed over all nodes: each step counts twice
  RingLength least;
  for (std::size_t place = 0; place < ring.size(); ++place) {
    const std::size_t node = ring[place];
    both_sides.add(distances(node, ring[(place + 1) % ring.size()]));
    both_sides.add(distances(node, ring[(place + ring.size() - 1) % ring.size()]));
    RingDistance nearest = std::numeric_limits<RingDistance>::max();
    RingDistance second = nearest;
    for (std::size_t other = 0; other < ring.size(); ++other) {
      if (other == node) continue;
      second = std::min(second, std::max(nearest, distances(node, other)));
      nearest = std::min(nearest, distances(node, other));
    }
    least.add(nearest);
    least.add(second);
  }
  return both_sides == least;
}

Ring short_ring(const RingDistances& distances) {
  std::uint64_t steps_left = kMaxSteps;
  Improvement improvement(distances, steps_left);
  std::optional<Ring> best;
  RingLength best_length;
  const std::size_t starts = std::min(kMaxStarts, distances.count());
  for (std::size_t i = 0; i < starts; ++i) {
    for (const Among among : {Among::kLeastFree, Among::kLowest}) {
      Ring ring = by_nearest(distances, i * distances.count() / starts, among);
      improvement.improve(ring);
      const RingLength length = length_of(distances, ring);
      if (best && best_length <= length) continue;
      best = std::move(ring);
      best_length = length;
      if (is_provably_shortest(distances, *best)) return *std::move(best);
    }
  }
  return *std::move(best);
}

}  // namespace cableway::routing
