// Measures routes and the flow model with Google Benchmark: see tools/bench.sh routes.
#include <benchmark/benchmark.h>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "routing/offers/path_offers.h"
#include "routing/paths/path_cost.h"
#include "routing/paths/route_table.h"
#include "routing/paths/shortest_paths.h"
#include "routing/shapes/topology_generator.h"
#include "sim/flow_model/cable_resources.h"
#include "sim/flow_model/failures.h"
#include "sim/flow_model/max_min_shares.h"
#include "tests/routing/sample_topologies.h"

namespace {

using namespace cableway;
using routing::NodeIndex;
using routing::PackedCost;
using routing::Topology;

constexpr std::uint32_t kSide = 32;
constexpr std::uint32_t kNodes = kSide * kSide;

const Topology& large_torus() {
  static const Topology torus = routing::sample_topology(kNodes, routing::torus_pairs(kSide, kSide));
  return torus;
}

// A different source for every run, so that no run uses another's cached memory.
class NextSource {
 public:
  NodeIndex next() { return NodeIndex{next_++ * 97 % kNodes}; }

 private:
  std::uint32_t next_ = 0;
};

void shortest_paths(benchmark::State& state) {
  const Topology& torus = large_torus();
  NextSource source;
  for (auto _ : state) benchmark::DoNotOptimize(routing::shortest_paths_from(torus, source.next()));
}
BENCHMARK(shortest_paths)->Unit(benchmark::kMicrosecond);

struct Cost {
  PackedCost cost;
};
using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Cost, boost::no_property,
                                                 std::uint32_t, std::uint32_t>;

Graph graph_of(const Topology& topology) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  std::vector<Cost> costs;
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
    for (const routing::Adjacency& adjacency : topology.adjacencies(NodeIndex{node})) {
      arcs.emplace_back(node, adjacency.neighbour.value);
      costs.push_back({routing::packed_cost(topology, adjacency.cable)});
    }
  }
  return Graph(boost::edges_are_sorted, arcs.begin(), arcs.end(), costs.begin(),
               static_cast<std::uint32_t>(topology.node_count()));
}

// Boost's implementation with the same costs, on its fastest graph type: distances, and one predecessor per node.
void boost_dijkstra(benchmark::State& state) {
  const Graph graph = graph_of(large_torus());
  const auto index = boost::get(boost::vertex_index, graph);
  NextSource source;
  for (auto _ : state) {
    std::vector<PackedCost> distance(kNodes);
    std::vector<std::uint32_t> predecessor(kNodes);
    boost::dijkstra_shortest_paths(graph, source.next().value,
                                   boost::weight_map(boost::get(&Cost::cost, graph))
                                       .distance_map(boost::make_iterator_property_map(distance.begin(), index))
                                       .predecessor_map(boost::make_iterator_property_map(predecessor.begin(), index))
                                       .distance_inf(std::numeric_limits<PackedCost>::max()));
    benchmark::DoNotOptimize(distance.data());
    benchmark::DoNotOptimize(predecessor.data());
  }
}
BENCHMARK(boost_dijkstra)->Unit(benchmark::kMicrosecond);

void all_pairs(benchmark::State& state) {
  const Topology& torus = large_torus();
  for (auto _ : state) {
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      benchmark::DoNotOptimize(routing::shortest_paths_from(torus, NodeIndex{node}));
    }
  }
}
BENCHMARK(all_pairs)->Unit(benchmark::kMillisecond);

// The path of one flow, as a node selects it among the equally short ones.
void path_for_flow(benchmark::State& state) {
  const routing::RouteTable routes = routing::compute_routes(large_torus(), NodeIndex{0});
  NextSource destination;
  for (auto _ : state) benchmark::DoNotOptimize(routes.path_for_flow(destination.next(), 0));
}
BENCHMARK(path_for_flow)->Unit(benchmark::kMicrosecond);

// All offers to one flow from one node, as a node computes them when a process asks for paths.
void offers(benchmark::State& state, const std::string& spec) {
  constexpr std::size_t kMost = 8;
  const Topology topology = *routing::generate_topology(spec);
  const routing::RouteTable routes = routing::compute_routes(topology, NodeIndex{0});
  std::uint32_t flow = 0;
  for (auto _ : state) {
    const NodeIndex destination{1 + flow * 97 % static_cast<std::uint32_t>(topology.node_count() - 1)};
    benchmark::DoNotOptimize(routing::offered_paths(topology, routes, destination, flow, kMost));
    ++flow;
  }
}
BENCHMARK_CAPTURE(offers, , "ring:8")->Name("offers_ring_8")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(offers, , "sparks:4")->Name("offers_sparks_4")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(offers, , "twins:4")->Name("offers_twins_4")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(offers, , "torus:8x8")->Name("offers_torus_64")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(offers, , "sparks:64")->Name("offers_sparks_64")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(offers, , "mesh:64")->Name("offers_mesh_64")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(offers, , "switch:64")->Name("offers_switch_64")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(offers, , "random:400,4")->Name("offers_random_400")->Unit(benchmark::kMicrosecond);

constexpr std::size_t kFlows = 100'000;

const sim::FlowPaths& random_flows() {
  static const sim::FlowPaths flows = [] {
    const sim::CableResources resources(large_torus());
    std::mt19937 random(1);
    sim::FlowPaths paths;
    std::vector<sim::ResourceIndex> used;
    for (std::uint32_t source = 0; paths.flow_count() < kFlows; source = (source + 1) % kNodes) {
      const routing::RouteTable routes = routing::compute_routes(large_torus(), NodeIndex{source});
      for (std::size_t i = 0; i < kFlows / kNodes + 1 && paths.flow_count() < kFlows; ++i) {
        const std::uint32_t distance = 1 + random() % (kNodes - 1);
        used.clear();
        resources.append_path(routes.path_for_flow(NodeIndex{(source + distance) % kNodes}, 0), used);
        paths.add(used);
      }
    }
    return paths;
  }();
  return flows;
}

// Flows between random nodes of the large torus, 16 cables each on average.
void max_min_shares(benchmark::State& state) {
  const sim::FlowPaths& flows = random_flows();
  const sim::CableResources resources(large_torus());
  for (auto _ : state) {
    sim::MaxMinShares shares;
    shares.compute(flows, resources.capacity());
    benchmark::DoNotOptimize(shares.rates().data());
  }
}
BENCHMARK(max_min_shares)->Unit(benchmark::kMillisecond);

// A torus of 8 x 8: 128 failures of one cable, 8,128 of two, 64 of a node.
void failures(benchmark::State& state) {
  const Topology torus = routing::sample_topology(64, routing::torus_pairs(8, 8));
  for (auto _ : state) benchmark::DoNotOptimize(sim::analyse_failures(torus));
}
BENCHMARK(failures)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
