// Offers on random graphs: what must hold for each of them, checked by enumerating all paths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/offers/path_offers.h"
#include "tests/routing/offers/written_offers.h"
#include "tests/routing/paths/naive_routing.h"
#include "tests/routing/paths/random_graphs.h"
#include "tests/slow_build.h"

namespace cableway::routing {
namespace {

using Names = std::set<std::string>;

Names in_both(const Names& left, const Names& right) {
  Names both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::inserter(both, both.end()));
  return both;
}

// Names what can fail on a path: relays, cables, wires and connectors.
class Failures {
 public:
  explicit Failures(const Topology& topology) : topology_(topology), hardware_(naive_hardware(topology)) {}

  Names on(const Path& path) const {
    Names names;
    for (std::size_t i = 1; i < path.hops(); ++i) names.insert("node " + topology_.node(path.nodes[i]).name);
    for (const CableIndex cable : path.cables) {
      names.insert("cable " + topology_.cable(cable).name);
      names.insert("wire " + hardware_.wire[cable.value]);
      names.insert("connector " + hardware_.connector_a[cable.value]);
      names.insert("connector " + hardware_.connector_b[cable.value]);
    }
    return names;
  }
  Names on_all(const std::vector<Path>& paths) const {
    Names common = on(paths.front());
    for (const Path& path : paths) common = in_both(common, on(path));
    return common;
  }

 private:
  const Topology& topology_;
  const NaiveHardware hardware_;
};

std::vector<Path> paths_of(const std::vector<OfferedPath>& offers) {
  std::vector<Path> paths;
  for (const OfferedPath& offer : offers) paths.push_back(offer.path);
  return paths;
}

// From one node of each graph to all others.
template <class Check>
void for_each_pair(const Check& check) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Topology topology = random_topology(seed, 7, 11);
    const NodeIndex from{static_cast<std::uint32_t>(seed % topology.node_count())};
    const RouteTable routes = compute_routes(topology, from);
    for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
      const std::vector<Path> all = naive_paths(topology, from, NodeIndex{i});
      if (NodeIndex{i} != from && !all.empty()) check(topology, routes, NodeIndex{i}, seed % 5, all);
    }
  }
}

TEST(RandomOffers, AreDifferentProperPathsInTheOrderOfTheirKinds) {
  std::size_t bundles = 0;
  std::size_t alternates = 0;
  for_each_pair([&](const Topology& topology, const RouteTable& routes, NodeIndex to, std::uint64_t ordinal,
                    const std::vector<Path>& all) {
    for (const std::size_t most : {1U, 2U, 3U, 4U, 8U}) {
      const std::vector<OfferedPath> offers = offered_paths(topology, routes, to, ordinal, most);
      ASSERT_EQ(offers.size(), std::min(most, all.size()));
      EXPECT_EQ(offers.front(), (OfferedPath{routes.path_for_flow(to, ordinal), PathKind::kFirst, true}));
      EXPECT_EQ(offers, offered_paths(topology, routes, to, ordinal, most));
      std::set<Path> different;
      for (std::size_t i = 0; i < offers.size(); ++i) {
        expect_proper(topology, offers[i].path, routes.self(), to);
        different.insert(offers[i].path);
        EXPECT_EQ(offers[i].kind == PathKind::kFirst, i == 0);
        EXPECT_TRUE(i == 0 || offers[i - 1].kind <= offers[i].kind);
        if (offers[i].kind == PathKind::kBundle) {
          EXPECT_EQ(offers[i].path.nodes, offers[0].path.nodes);
          EXPECT_NE(offers[i].path.cables.front(), offers[0].path.cables.front());
          EXPECT_NE(offers[i].path.cables.back(), offers[0].path.cables.back());
        }
        bundles += offers[i].kind == PathKind::kBundle ? 1 : 0;
        alternates += offers[i].kind == PathKind::kAlternate ? 1 : 0;
      }
      EXPECT_EQ(different.size(), offers.size());
    }
  });
  EXPECT_GT(bundles, test::cases_here(500U));
  EXPECT_GT(alternates, test::cases_here(5000U));
}

TEST(RandomOffers, ShareNothingThatCanBeAvoided) {
  std::size_t avoidable = 0;
  std::size_t not_at_once = 0;
  for_each_pair([&](const Topology& topology, const RouteTable& routes, NodeIndex to, std::uint64_t ordinal,
                    const std::vector<Path>& all) {
    const Failures failures(topology);
    const Names unavoidable = failures.on_all(all);
    for (const std::size_t most : {2U, 3U, 4U, 8U}) {
      const std::vector<Path> offers = paths_of(offered_paths(topology, routes, to, ordinal, most));
      const Names shared = failures.on_all(offers);
      avoidable += failures.on(offers.front()).size() - unavoidable.size();
      if (most > 2) {
        EXPECT_EQ(shared, unavoidable) << most << " offers to " << topology.node(to).name;
        continue;
      }
      const bool one_suffices = std::any_of(all.begin(), all.end(), [&](const Path& path) {
        return in_both(failures.on(offers.front()), failures.on(path)) == unavoidable;
      });
      EXPECT_TRUE(!one_suffices || shared == unavoidable) << "two offers to " << topology.node(to).name;
      not_at_once += one_suffices ? 0 : 1;
    }
  });
  EXPECT_GT(avoidable, test::cases_here(5000U));
  EXPECT_GT(not_at_once, test::cases_here(10U));
}

// By name: the directions of cables, wires, connectors and roots that a path uses.
Names capacities(const Topology& topology, const Path& path) {
  const NaiveHardware hardware = naive_hardware(topology);
  Names names;
  for (std::size_t i = 0; i < path.hops(); ++i) {
    const CableIndex cable = path.cables[i];
    const std::string way = topology.cable(cable).a.node == path.nodes[i] ? " there" : " back";
    names.insert(topology.cable(cable).name + way);
    names.insert(hardware.wire[cable.value] + way);
    for (const bool out : {true, false}) {
      const Port& port = topology.port_at(cable, path.nodes[i + (out ? 0 : 1)]);
      const bool at_a = topology.cable(cable).a.node == port.node;
      const std::string& connector = (at_a ? hardware.connector_a : hardware.connector_b)[cable.value];
      names.insert(absl::StrCat(connector, out ? " out" : " in"));
    }
  }
  return names;
}

TEST(RandomOffers, StripeOverIdlePartsOnly) {
  std::size_t striping = 0;
  std::size_t standing_by = 0;
  for_each_pair([&](const Topology& topology, const RouteTable& routes, NodeIndex to, std::uint64_t ordinal,
                    const std::vector<Path>&) {
    const std::vector<std::string> shared_roots = naive_roots(topology);
    Names taken;
    for (const OfferedPath& offer : offered_paths(topology, routes, to, ordinal, 8)) {
      const Names uses = capacities(topology, offer.path);
      if (offer.kind != PathKind::kAlternate) {
        if (offer.may_stripe) taken.insert(uses.begin(), uses.end());
        continue;
      }
      (offer.may_stripe ? striping : standing_by) += 1;
      if (!offer.may_stripe) continue;
      EXPECT_EQ(in_both(uses, taken), Names()) << written(topology, offer.path);
      for (const CableIndex cable : offer.path.cables) {
        for (const Port* port : {&topology.cable(cable).a, &topology.cable(cable).b}) {
          const std::string root = absl::StrCat(topology.node(port->node).name, " root ", port->root, ":");
          const auto limits = [&](const std::string& each) { return each.rfind(root, 0) == 0; };
          EXPECT_TRUE(port->root.empty() || std::none_of(shared_roots.begin(), shared_roots.end(), limits))
              << written(topology, offer.path) << " crosses " << root;
        }
      }
    }
  });
  EXPECT_GT(striping, test::cases_here(300U));
  EXPECT_GT(standing_by, test::cases_here(300U));
}

}  // namespace
}  // namespace cableway::routing
