#include "routing/shapes/shapes.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace cableway::routing {
namespace {

// Appends the mesh of `count` nodes starting at `first`.
void append_mesh(NodePairs& pairs, std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = a + 1; b < count; ++b) pairs.emplace_back(first + a, first + b);
  }
}

}  // namespace

NodePairs line_shape(std::uint32_t nodes) {
  NodePairs pairs;
  pairs.reserve(nodes - 1);
  for (std::uint32_t i = 0; i + 1 < nodes; ++i) pairs.emplace_back(i, i + 1);
  return pairs;
}

NodePairs ring_shape(std::uint32_t nodes) {
  NodePairs pairs = line_shape(nodes);
  pairs.emplace_back(nodes - 1, 0);
  return pairs;
}

NodePairs mesh_shape(std::uint32_t nodes) {
  NodePairs pairs;
  append_mesh(pairs, 0, nodes);
  return pairs;
}

NodePairs star_shape(std::uint32_t nodes) {
  NodePairs pairs;
  pairs.reserve(nodes - 1);
  for (std::uint32_t i = 1; i < nodes; ++i) pairs.emplace_back(0, i);
  return pairs;
}

NodePairs torus_shape(std::span<const std::uint32_t> sizes) {
  const std::uint32_t nodes = std::accumulate(sizes.begin(), sizes.end(), 1U, std::multiplies<>());
  NodePairs pairs;
  pairs.reserve(nodes * sizes.size());
  for (std::uint32_t here = 0; here < nodes; ++here) {
    std::uint32_t stride = 1;
    for (std::size_t dimension = sizes.size(); dimension-- > 0;) {
      const std::uint32_t size = sizes[dimension];
      const std::uint32_t coordinate = here / stride % size;
      const std::uint32_t next = here - coordinate * stride + (coordinate + 1) % size * stride;
      if (size > 2 || coordinate == 0) pairs.emplace_back(here, next);
      stride *= size;
    }
  }
  return pairs;
}

NodePairs hypercube_shape(std::uint32_t dimensions) {
  const std::uint32_t nodes = 1U << dimensions;
  NodePairs pairs;
  pairs.reserve(std::size_t{nodes} * dimensions / 2);
  for (std::uint32_t here = 0; here < nodes; ++here) {
    for (std::uint32_t bit = 1; bit < nodes; bit *= 2) {
      if ((here & bit) == 0) pairs.emplace_back(here, here | bit);
    }
  }
  return pairs;
}

NodePairs dragonfly_shape(std::uint32_t groups, std::uint32_t routers) {
  NodePairs pairs;
  for (std::uint32_t group = 0; group < groups; ++group) append_mesh(pairs, group * routers, routers);
  for (std::uint32_t a = 0; a < groups; ++a) {
    for (std::uint32_t b = a + 1; b < groups; ++b) {
      // Among the other groups, b is number b - 1 for a, and a is number a for b.
      pairs.emplace_back(a * routers + (b - 1) % routers, b * routers + a % routers);
    }
  }
  return pairs;
}

NodePairs two_rings_shape(std::uint32_t nodes) {
  NodePairs pairs = ring_shape(nodes);
  pairs.reserve(2 * std::size_t{nodes} + 1);
  for (std::uint32_t i = 0; i < nodes; ++i) pairs.emplace_back(nodes + pairs[i].first, nodes + pairs[i].second);
  pairs.emplace_back(0, nodes);
  return pairs;
}

}  // namespace cableway::routing
