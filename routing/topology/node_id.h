// A node's identity in its cluster: a hash of both names. Not the machine ID, because that is cloned with disks.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_NODE_ID_H_
#define CABLEWAY_ROUTING_TOPOLOGY_NODE_ID_H_

#include <compare>
#include <cstdint>
#include <string_view>

namespace cableway::routing {

struct NodeId {
  std::uint64_t value = 0;
  friend auto operator<=>(const NodeId&, const NodeId&) = default;
};

// FNV-1a over 64 bits (Fowler, Noll, Vo), continued from `hash`.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325U) {
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3U;
  return hash;
}

constexpr std::uint64_t cluster_id(std::string_view cluster) {
  return fnv1a(cluster);
}

// No name contains a '/', so no two pairs of names collide by concatenation. Two names of one cluster with the same
// hash would look like one node used twice; among 4,096 names the odds are one in 10^12.
constexpr NodeId node_id(std::string_view cluster, std::string_view name) {
  return NodeId{fnv1a(name, fnv1a("/", cluster_id(cluster)))};
}

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_NODE_ID_H_
