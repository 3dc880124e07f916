#include "tests/sim/flow_model/random_topology.h"

#include <algorithm>
#include <utility>

#include "tests/routing/sample_topologies.h"

namespace cableway::sim {
namespace {

using routing::Cable;

class RandomCables {
 public:
  explicit RandomCables(std::mt19937& random) : random_(random) {}

  void add(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint64_t kRates[] = {1000, 2500, 10'000};
    Cable cable = routing::sample_cable(static_cast<std::uint32_t>(cables_.size()), a, b);
    cable.rate_mbps = kRates[random_() % 3];
    cable.latency_us = random_() % 2 == 0 ? 1 : 2;
    cables_.push_back(std::move(cable));
  }

  // Adds a twin of the same wire.
  void twin(std::size_t place) {
    Cable twin = routing::sample_cable(static_cast<std::uint32_t>(cables_.size()), cables_[place].a.node.value,
                                       cables_[place].b.node.value);
    twin.rate_mbps = cables_[place].rate_mbps;
    twin.a.plug = twin.b.plug = cables_[place].a.plug = cables_[place].b.plug = "p" + cables_[place].name;
    cables_.push_back(std::move(twin));
  }

  void add_switch(const std::vector<std::uint32_t>& nodes) {
    for (Cable& cable : routing::switch_segment(static_cast<std::uint32_t>(cables_.size()), nodes)) {
      cable.rate_mbps = 2500;
      cables_.push_back(std::move(cable));
    }
  }

  // Puts ports behind one of two roots of their nodes, but leaves some behind none.
  void add_roots() {
    for (Cable& cable : cables_) {
      for (routing::Port* port : {&cable.a, &cable.b}) {
        // A port on a switch ends several cables.
        if (port->interface.empty() && random_() % 4 != 0) port->root = random_() % 2 == 0 ? "r0" : "r1";
      }
    }
  }

  std::vector<Cable> take() && { return std::move(cables_); }
  std::size_t size() const { return cables_.size(); }

 private:
  std::mt19937& random_;
  std::vector<Cable> cables_;
};

}  // namespace

routing::Topology random_topology(std::mt19937& random, std::uint32_t nodes) {
  RandomCables cables(random);
  for (std::uint32_t node = 1; node < nodes; ++node) cables.add(random() % node, node);
  const std::size_t leaf = nodes - 1;  // no later node is joined to it
  const std::uint32_t more = random() % (nodes + 1);
  for (std::uint32_t i = 0; i < more; ++i) {
    const std::uint32_t a = random() % nodes;
    const std::uint32_t b = random() % nodes;
    if (a != b) cables.add(a, b);
  }
  if (random() % 3 == 0) cables.twin(random() % cables.size());
  if (nodes >= 3 && random() % 4 == 0) cables.add_switch({0, 1, nodes - 1});
  std::vector<routing::Node> list = routing::sample_nodes(nodes);
  if (random() % 2 == 0) {
    cables.add_roots();
    // Of others, the rate is that of the fastest cable.
    for (std::size_t node = 0; node < nodes; node += 2) list[node].roots = {{"r0", 2000}, {"r1", 12'000}};
  }
  // The other nodes were connected to each other before it was added.
  list[leaf].draining = random() % 4 == 0;
  std::vector<Cable> made = std::move(cables).take();
  routing::keep_to_parts(list, made);
  return routing::make_topology(std::move(list), std::move(made));
}

std::vector<routing::NodeIndex> all_nodes(const routing::Topology& topology) {
  std::vector<routing::NodeIndex> nodes;
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) nodes.push_back(routing::NodeIndex{node});
  return nodes;
}

}  // namespace cableway::sim
