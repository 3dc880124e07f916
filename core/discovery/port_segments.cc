#include "core/discovery/port_segments.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"
#include "routing/topology/topology_check.h"

namespace cableway {
namespace {

// Disjoint sets: R. E. Tarjan, "Efficiency of a good but not linear set union algorithm", 1975; without ranks, as a
// node has few ports.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t element) {
    while (parent_[element] != element) element = parent_[element] = parent_[parent_[element]];
    return element;
  }
  void join(std::size_t one, std::size_t other) { parent_[find(one)] = find(other); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

void PortSegments::set_ports(std::span<const PortFacts> ports) {
  ports_.assign(ports.begin(), ports.end());
  const auto has_no_carrier = [&](PortId id) {
    return std::none_of(ports_.begin(), ports_.end(), [id](const auto& each) { return each.id == id && each.carrier; });
  };
  std::erase_if(own_hellos_, [&](const auto& entry) {
    return has_no_carrier(entry.first.first) || has_no_carrier(entry.first.second);
  });
  std::erase_if(had_neighbour_, has_no_carrier);
  std::erase_if(had_several_, has_no_carrier);
}

bool PortSegments::note_own_hello(PortId at, PortId from, Instant now) {
  const Pair pair{std::min(at, from), std::max(at, from)};
  const auto [hellos, is_new] = own_hellos_.try_emplace(pair, OwnHellos{now, now});
  hellos->second.last = now;
  return is_new;
}

bool PortSegments::forget_own_hellos(Instant before) {
  return std::erase_if(own_hellos_, [&](const auto& entry) { return entry.second.last < before; }) > 0;
}

void PortSegments::build(std::span<const PortHearing> heard) {
  place_.clear();
  for (const PortFacts& port : ports_) place_.emplace(port.id, place_.size());
  Sets sets(ports_.size());
  std::map<std::string, std::size_t> first_of_plug;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (ports_[i].plug.empty()) continue;
    sets.join(i, first_of_plug.try_emplace(ports_[i].plug, i).first->second);
  }
  for (const auto& [pair, hellos] : own_hellos_) {
    const auto one = place_.find(pair.first);
    const auto other = place_.find(pair.second);
    if (one == place_.end() || other == place_.end()) continue;
    sets.join(one->second, other->second);
  }
  std::map<std::pair<routing::NodeId, PortId>, std::size_t> first_hearing;
  for (const PortHearing& hearing : heard) {
    const auto at = place_.find(hearing.at);
    if (at == place_.end()) continue;
    sets.join(at->second, first_hearing.try_emplace({hearing.node, hearing.port}, at->second).first->second);
  }

  segments_.clear();
  std::map<std::size_t, std::size_t> segment_of_set;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const auto [segment, is_new] = segment_of_set.try_emplace(sets.find(i), segments_.size());
    if (is_new) segments_.emplace_back();
    segments_[segment->second].ports.push_back(ports_[i].id);
    place_[ports_[i].id] = segment->second;
  }
  for (const PortHearing& hearing : heard) {
    if (const auto at = place_.find(hearing.at); at != place_.end()) segments_[at->second].nodes.insert(hearing.node);
  }
  for (PortSegment& segment : segments_) {
    std::sort(segment.ports.begin(), segment.ports.end());
    for (const PortId port : segment.ports) {
      if (!segment.nodes.empty()) had_neighbour_.insert(port);
      if (segment.nodes.size() > 1) had_several_.insert(port);
    }
    // A switch stays one when a node leaves: as a wire it would lose cables of the nodes that stay.
    segment.is_switch = std::any_of(segment.ports.begin(), segment.ports.end(),
                                    [this](PortId port) { return had_several_.contains(port); });
  }
}

bool PortSegments::is_loop(PortId one, PortId other, Instant since) const {
  const auto hellos = own_hellos_.find({std::min(one, other), std::max(one, other)});
  if (hellos == own_hellos_.end() || hellos->second.first > since) return false;
  if (had_neighbour_.contains(one) || had_neighbour_.contains(other)) return false;
  const auto plug = [&](PortId id) {
    return std::find_if(ports_.begin(), ports_.end(), [id](const auto& each) { return each.id == id; })->plug;
  };
  return plug(one).empty() || plug(one) != plug(other);
}

std::string PortSegments::plug_of(PortId port) const {
  const PortSegment& segment = of(port);
  std::vector<const PortFacts*> ports;
  for (const PortFacts& each : ports_) {
    if (std::binary_search(segment.ports.begin(), segment.ports.end(), each.id)) ports.push_back(&each);
  }
  const auto self = std::find_if(ports.begin(), ports.end(), [port](const auto* each) { return each->id == port; });
  if (!(*self)->plug.empty()) return (*self)->plug;
  // Hardware reports its split plugs. Where it reports none, the ports are on a switch, each with its own capacity.
  const bool is_hardware = std::any_of(ports.begin(), ports.end(),
                                       [](const auto* each) { return !each->plug.empty() || !each->root.empty(); });
  if (is_hardware || ports.size() < 2 || !segment.is_wire()) return "";
  const PortFacts* const first = *std::min_element(ports.begin(), ports.end(), [](const auto* left, const auto* right) {
    return routing::natural_less(left->interface, right->interface);
  });
  const std::string name = absl::StrCat("wire.", first->interface);
  return routing::is_valid_part_name(name) ? name : absl::StrCat("wire.", first->id);
}

}  // namespace cableway
