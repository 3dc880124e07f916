// Offers as lines of text.
#ifndef CABLEWAY_TESTS_ROUTING_OFFERS_WRITTEN_OFFERS_H_
#define CABLEWAY_TESTS_ROUTING_OFFERS_WRITTEN_OFFERS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/offers/path_offers.h"

namespace cableway::routing {

// "n0 -c0- n1 -c1- n2"
inline std::string written(const Topology& topology, const Path& path) {
  std::string text = topology.node(path.nodes.front()).name;
  for (std::size_t i = 0; i < path.hops(); ++i) {
    absl::StrAppend(&text, " -", topology.cable(path.cables[i]).name, "- ", topology.node(path.nodes[i + 1]).name);
  }
  return text;
}

// "alternate n0 -c0- n1", with "(idle)" behind those that may not stripe.
inline std::vector<std::string> written_offers(const Topology& topology, std::uint32_t from, std::uint32_t to,
                                               std::uint64_t ordinal, std::size_t most) {
  constexpr const char* kKinds[] = {"first ", "bundle ", "alternate "};
  std::vector<std::string> lines;
  const RouteTable routes = compute_routes(topology, NodeIndex{from});
  for (const OfferedPath& offer : offered_paths(topology, routes, NodeIndex{to}, ordinal, most)) {
    lines.push_back(absl::StrCat(kKinds[static_cast<std::size_t>(offer.kind)], written(topology, offer.path),
                                 offer.may_stripe ? "" : " (idle)"));
  }
  return lines;
}

}  // namespace cableway::routing

#endif  // CABLEWAY_TESTS_ROUTING_OFFERS_WRITTEN_OFFERS_H_
