#include "sim/simtest/rules/resource_graph.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cableway::sim {

std::size_t ResourceGraph::number(Identity identity, const std::string& name) {
  const auto [place, is_new] = numbers_.try_emplace(identity, names_.size());
  if (is_new) {
    names_.push_back(name);
    needs_.emplace_back();
  }
  return place->second;
}

void ResourceGraph::add(Identity held, const std::string& held_name, Identity needed, const std::string& needed_name) {
  const std::size_t from = number(held, held_name);
  const std::size_t to = number(needed, needed_name);
  if (std::find(needs_[from].begin(), needs_[from].end(), to) != needs_[from].end()) return;
  needs_[from].push_back(to);
  ++waits_;
}

// Iterative depth-first search: a chain of waits may be as long as the longest path.
std::vector<std::string> ResourceGraph::find_cycle() const {
  enum class Mark : std::uint8_t { kNew, kOnTheWay, kDone };
  std::vector<Mark> marks(names_.size(), Mark::kNew);
  struct Step {
    std::size_t resource;
    std::size_t next;
  };
  for (std::size_t start = 0; start < names_.size(); ++start) {
    if (marks[start] != Mark::kNew) continue;
    std::vector<Step> way{{start, 0}};
    marks[start] = Mark::kOnTheWay;
    while (!way.empty()) {
      Step& step = way.back();
      if (step.next == needs_[step.resource].size()) {
        marks[step.resource] = Mark::kDone;
        way.pop_back();
        continue;
      }
      const std::size_t needed = needs_[step.resource][step.next++];
      if (marks[needed] == Mark::kDone) continue;
      if (marks[needed] == Mark::kNew) {
        marks[needed] = Mark::kOnTheWay;
        way.push_back({needed, 0});
        continue;
      }
      std::vector<std::string> cycle;
      const auto begin =
          std::find_if(way.begin(), way.end(), [&](const Step& each) { return each.resource == needed; });
      for (auto each = begin; each != way.end(); ++each) cycle.push_back(names_[each->resource]);
      cycle.push_back(names_[needed]);
      return cycle;
    }
  }
  return {};
}

void add_waits(const CircuitWorld& world, const SlotIdentity& identity, ResourceGraph& graph) {
  for (std::size_t number = 0; number < world.circuits(); ++number) {
    const Circuit& circuit = world.circuit(number);
    const routing::Path& path = circuit.path();
    const auto at = [&](std::size_t place) { return world.topology().node(path.nodes[place]).name; };
    // Hop i leads from node i to node i + 1; relay i - 1 is at node i.
    for (std::size_t hop = 0; hop <= circuit.relays(); ++hop) {
      const HopDirection& direction = circuit.hop(hop).forward();
      const void* credit = &direction.inbox();
      const std::string entry_name = absl::StrCat("circuit ", number, "'s place in the queue from ", at(hop));
      const std::string credit_name = absl::StrCat("circuit ", number, "'s credit from ", at(hop));
      graph.add(&direction, entry_name, credit, credit_name);
      if (hop > 0) {
        for (const Slot* slot : circuit.relay(hop - 1).slots()) {
          graph.add(identity(path.nodes[hop], slot), absl::StrCat("a slot of circuit ", number, " at ", at(hop)),
                    &direction, entry_name);
        }
      }
      // Chunks of the last hop go to announced memory, so they wait for nothing.
      if (hop == circuit.relays()) continue;
      graph.add(credit, credit_name, identity(path.nodes[hop + 1], circuit.relay(hop).slots().front()),
                absl::StrCat("a slot of circuit ", number, " at ", at(hop + 1)));
    }
  }
}

void add_waits(const CircuitWorld& world, ResourceGraph& graph) {
  add_waits(
      world, [](routing::NodeIndex, const Slot* slot) { return slot; }, graph);
}

}  // namespace cableway::sim
