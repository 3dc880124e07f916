#include "routing/placement/shortest_ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

namespace cableway::routing {
namespace {

// A set of nodes other than node 0: bit i is node i + 1.
using Subset = std::uint32_t;
constexpr std::size_t kMaxOthers = kMaxExactRing - 1;
constexpr RingDistance kNoRing = std::numeric_limits<RingDistance>::max();

// The next larger number with the same number of set bits (R. W. Gosper, 1972). Precondition: subset != 0.
Subset next_of_size(Subset subset) {
  const Subset lowest = subset & (~subset + 1);
  const Subset carried = subset + lowest;
  return carried | (((subset ^ carried) / lowest) >> 2);
}

constexpr auto kBinomial = [] {
  std::array<std::array<std::uint32_t, kMaxOthers + 2>, kMaxOthers + 2> binomial{};
  for (std::size_t n = 0; n < binomial.size(); ++n) {
    binomial[n][0] = 1;
    for (std::size_t k = 1; k <= n; ++k) binomial[n][k] = binomial[n - 1][k - 1] + binomial[n - 1][k];
  }
  return binomial;
}();

// The set bits of a subset, ascending. Subsets of one size are ranked in ascending order of their values: the rank is
// the sum of C(bit i, i + 1) (D. H. Lehmer, 1964).
struct Bits {
  explicit Bits(Subset subset) {
    for (; subset != 0; subset &= subset - 1) bit[count++] = static_cast<std::size_t>(std::countr_zero(subset));
  }
  std::array<std::size_t, kMaxOthers> bit;
  std::size_t count = 0;
};

class ShortestRing {
 public:
  explicit ShortestRing(const RingDistances& distances)
      : distances_(distances), others_(distances.count() - 1), all_((Subset{1} << others_) - 1) {}

  // Splits the ring at node 0 and halfway round: two paths from node 0 to the middle node. A layer holds the shortest
  // paths through all subsets of one size, so the layers up to the middle suffice.
  Ring find() {
    const std::size_t first_size = (others_ + 1) / 2;
    const std::size_t second_size = others_ + 1 - first_size;  // equal or one more: the middle node is in both halves
    Layer layer(others_);
    for (std::size_t i = 0; i < others_; ++i) layer[i] = distances_(0, i + 1);
    for (std::size_t size = 2; size <= first_size; ++size) layer = next_layer(layer, size);
    const Meeting meeting = second_size == first_size ? meet(layer, layer, first_size)
                                                      : meet(layer, next_layer(layer, second_size), first_size);

    Ring ring = {0};
    const Ring there = path_through(meeting.first, meeting.middle);
    const Ring back = path_through((all_ & ~meeting.first) | (Subset{1} << meeting.middle), meeting.middle);
    ring.insert(ring.end(), there.begin(), there.end());
    ring.insert(ring.end(), back.rbegin() + 1, back.rend());
    return ring;
  }

 private:
  // For each subset of one size by rank, and for each of its members in ascending order: the length of the shortest
  // path from node 0 through the whole subset that ends at the member.
  using Layer = std::vector<RingDistance>;

  Layer next_layer(const Layer& previous, std::size_t size) const {
    Layer layer(std::size_t{kBinomial[others_][size]} * size);
    auto out = layer.begin();
    Subset subset = (Subset{1} << size) - 1;
    for (std::uint32_t rank = 0; rank < kBinomial[others_][size]; ++rank) {
      const Bits bits(subset);
      // The rank of the subset without bit `end`: higher bits move down one position.
      std::uint32_t rank_without = 0;
      for (std::size_t i = 1; i < size; ++i) rank_without += kBinomial[bits.bit[i]][i];
      for (std::size_t end = 0; end < size; ++end) {
        *out++ = shortest_to(bits, end, &previous[std::size_t{rank_without} * (size - 1)]);
        if (end + 1 == size) break;
        rank_without += kBinomial[bits.bit[end]][end + 1];
        rank_without -= kBinomial[bits.bit[end + 1]][end + 1];
      }
      subset = next_of_size(subset);
    }
    return layer;
  }

  // `lengths`: of the shortest paths through the rest of the subset, indexed by the position of their last node.
  RingDistance shortest_to(const Bits& bits, std::size_t end, const RingDistance* lengths) const {
    const RingDistance* to_end = &row_[bits.bit[end]][0];
    RingDistance shortest = kNoRing;
    for (std::size_t i = 0; i < end; ++i) shortest = std::min(shortest, lengths[i] + to_end[bits.bit[i]]);
    for (std::size_t i = end + 1; i < bits.count; ++i) {
      shortest = std::min(shortest, lengths[i - 1] + to_end[bits.bit[i]]);
    }
    return shortest;
  }

  struct Meeting {
    Subset first = 0;
    std::size_t middle = 0;  // bit
    RingDistance length = kNoRing;
  };

  // `second` holds the paths through the complements of the subsets of `first`, plus the middle node.
  Meeting meet(const Layer& first, const Layer& second, std::size_t size) const {
    Meeting best;
    Subset subset = (Subset{1} << size) - 1;
    for (std::uint32_t rank = 0; rank < kBinomial[others_][size]; ++rank) {
      const Bits bits(subset);
      const Bits rest(all_ & ~subset);
      // The rank of `rest` with `middle` inserted at `place`: higher bits move up one position.
      std::uint32_t rank_below = 0;
      std::uint32_t rank_above = 0;
      for (std::size_t i = 0; i < rest.count; ++i) rank_above += kBinomial[rest.bit[i]][i + 2];
      std::size_t place = 0;
      for (std::size_t end = 0; end < size; ++end) {
        const std::size_t middle = bits.bit[end];
        for (; place < rest.count && rest.bit[place] < middle; ++place) {
          rank_below += kBinomial[rest.bit[place]][place + 1];
          rank_above -= kBinomial[rest.bit[place]][place + 2];
        }
        const std::size_t rank_with = rank_below + kBinomial[middle][place + 1] + rank_above;
        const RingDistance length =
            first[std::size_t{rank} * size + end] + second[rank_with * (rest.count + 1) + place];
        if (length < best.length) best = {subset, middle, length};
      }
      subset = next_of_size(subset);
    }
    return best;
  }

  // The nodes of a shortest path from node 0 through all of `subset` to the node of bit `end`, without node 0. The
  // layers hold lengths only, so this searches again over the subsets of this half, which are few.
  Ring path_through(Subset subset, std::size_t end) const {
    const Bits bits(subset);
    const std::size_t count = bits.count;
    std::vector<RingDistance> length((std::size_t{1} << count) * count, kNoRing);
    const auto at = [&](std::size_t visited, std::size_t last) -> RingDistance& {
      return length[visited * count + last];
    };
    const auto between = [&](std::size_t from, std::size_t to) { return row_[bits.bit[from]][bits.bit[to]]; };
    for (std::size_t i = 0; i < count; ++i) at(std::size_t{1} << i, i) = distances_(0, bits.bit[i] + 1);
    for (std::size_t visited = 1; visited < std::size_t{1} << count; ++visited) {
      for (std::size_t last = 0; last < count; ++last) {
        if (at(visited, last) == kNoRing) continue;
        for (std::size_t next = 0; next < count; ++next) {
          if ((visited >> next & 1) != 0) continue;
          RingDistance& there = at(visited | std::size_t{1} << next, next);
          there = std::min(there, at(visited, last) + between(last, next));
        }
      }
    }
    std::size_t last = static_cast<std::size_t>(std::find(bits.bit.begin(), bits.bit.end(), end) - bits.bit.begin());
    Ring path = {bits.bit[last] + 1};
    for (std::size_t visited = (std::size_t{1} << count) - 1; path.size() < count;) {
      const std::size_t before = visited & ~(std::size_t{1} << last);
      std::size_t previous = 0;
      while (at(before, previous) == kNoRing || at(before, previous) + between(previous, last) != at(visited, last)) {
        ++previous;
      }
      visited = before;
      last = previous;
      path.push_back(bits.bit[last] + 1);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  using Rows = std::array<std::array<RingDistance, kMaxOthers>, kMaxOthers>;
  static Rows rows(const RingDistances& distances) {
    Rows row{};
    for (std::size_t from = 1; from < distances.count(); ++from) {
      for (std::size_t to = 1; to < distances.count(); ++to) row[from - 1][to - 1] = distances(from, to);
    }
    return row;
  }

  const RingDistances& distances_;
  const std::size_t others_;
  const Subset all_;
  const Rows row_ = rows(distances_);  // by bits
};

}  // namespace

Ring shortest_ring(const RingDistances& distances) {
  return ShortestRing(distances).find();
}

}  // namespace cableway::routing
