#include <algorithm>
#include <numeric>
#include <vector>

#include "routing/shapes/shapes.h"

namespace cableway::routing {
namespace {

using NodePair = NodePairs::value_type;

// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). The standard
// distributions differ between libraries, so bounded numbers are derived here: the upper half of a number, scaled. The
// bias is below bound / 2^32.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32U) * std::uint64_t{bound}) >> 32U);
  }

 private:
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  std::uint64_t state_;
};

NodePairs ring_with_chords(std::uint32_t nodes, std::uint32_t degree) {
  NodePairs pairs;
  pairs.reserve(std::size_t{nodes} * degree / 2);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (std::uint32_t step = 1; step <= degree / 2; ++step) pairs.emplace_back(i, (i + step) % nodes);
  }
  if (degree % 2 == 1) {
    for (std::uint32_t i = 0; i < nodes / 2; ++i) pairs.emplace_back(i, i + nodes / 2);
  }
  return pairs;
}

// The adjacency matrix, symmetric: at most kMaxNodes^2 bits.
class Joined {
 public:
  Joined(std::uint32_t nodes, const NodePairs& pairs) : nodes_(nodes), bits_(std::size_t{nodes} * nodes) {
    for (const NodePair& pair : pairs) set(pair, true);
  }
  bool has(const NodePair& pair) const { return bits_[place(pair.first, pair.second)]; }
  void set(const NodePair& pair, bool joined) {
    bits_[place(pair.first, pair.second)] = joined;
    bits_[place(pair.second, pair.first)] = joined;
  }

 private:
  std::size_t place(std::uint32_t a, std::uint32_t b) const { return std::size_t{a} * nodes_ + b; }

  std::uint32_t nodes_;
  std::vector<bool> bits_;
};

// Replaces a-b and c-d with a-c and b-d, unless that joins a node to itself or a pair twice.
void exchange(NodePair& one, NodePair& other, Joined& joined) {
  const NodePair first{one.first, other.first};
  const NodePair second{one.second, other.second};
  if (first.first == first.second || second.first == second.second) return;
  if (joined.has(first) || joined.has(second)) return;
  joined.set(one, false);
  joined.set(other, false);
  joined.set(first, true);
  joined.set(second, true);
  one = first;
  other = second;
}

std::uint32_t root_of(std::vector<std::uint32_t>& parents, std::uint32_t node) {
  while (parents[node] != node) {
    parents[node] = parents[parents[node]];
    node = parents[node];
  }
  return node;
}

// For each component, one cable that closes a cycle. A component whose nodes all have two or more neighbours has one.
std::vector<std::size_t> closing_cables(std::uint32_t nodes, const NodePairs& pairs) {
  std::vector<std::uint32_t> parents(nodes);
  std::iota(parents.begin(), parents.end(), 0U);
  std::vector<std::size_t> closing;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::uint32_t a = root_of(parents, pairs[i].first);
    const std::uint32_t b = root_of(parents, pairs[i].second);
    if (a == b) {
      closing.push_back(i);
    } else {
      parents[b] = a;
    }
  }
  std::vector<bool> seen(nodes, false);
  std::erase_if(closing, [&](std::size_t i) {
    const std::uint32_t part = root_of(parents, pairs[i].first);
    const bool again = seen[part];
    seen[part] = true;
    return again;
  });
  return closing;
}

// Joins two components by exchanging one cycle-closing cable of each. Neither is disconnected by that, and of the two
// new cables one is enough to join them: the other closes a cycle and serves to join the next component.
void join_parts(std::uint32_t nodes, NodePairs& pairs) {
  const std::vector<std::size_t> closing = closing_cables(nodes, pairs);
  for (std::size_t i = 1; i < closing.size(); ++i) {
    NodePair& one = pairs[closing[0]];
    NodePair& other = pairs[closing[i]];
    const NodePair joining{one.first, other.first};
    one = {one.second, other.second};
    other = joining;
  }
}

}  // namespace

NodePairs random_regular_shape(std::uint32_t nodes, std::uint32_t degree, std::uint64_t seed) {
  constexpr std::uint32_t kExchangesPerCable = 10;
  NodePairs pairs = ring_with_chords(nodes, degree);
  Joined joined(nodes, pairs);
  SplitMix64 random(seed);
  const auto count = static_cast<std::uint32_t>(pairs.size());
  for (std::uint32_t i = 0; i < kExchangesPerCable * count; ++i) {
    NodePair& one = pairs[random.below(count)];
    NodePair& other = pairs[random.below(count)];
    exchange(one, other, joined);
    // Randomises the orientation, so that the next exchange does not depend on how this pair was created.
    if (random.below(2) == 1) std::swap(one.first, one.second);
  }
  join_parts(nodes, pairs);
  for (NodePair& pair : pairs) {
    if (pair.second < pair.first) std::swap(pair.first, pair.second);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace cableway::routing
