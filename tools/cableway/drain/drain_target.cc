#include "tools/cableway/drain/drain_target.h"

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"
#include "routing/topology/short_cable_names.h"

namespace cableway::cli {
namespace {

using routing::Cable;
using routing::NodeIndex;
using routing::Port;
using routing::Topology;

const Port* end_at(const Cable& cable, NodeIndex node) {
  if (cable.a.node == node) return &cable.a;
  return cable.b.node == node ? &cable.b : nullptr;
}

DrainTarget target_of(const Topology& topology, NodeIndex here, const Cable& cable) {
  const Port& own = *end_at(cable, here);
  const Port& other = &own == &cable.a ? cable.b : cable.a;
  return {.node = topology.node(here).name,
          .cable = cable.name,
          .drains = cable.draining,
          .interface = own.interface,
          .neighbour = topology.node(other.node).name,
          .shown = routing::ShortCableNames(topology).with_full(cable)};
}

std::vector<const Cable*> cables_at(const Topology& topology, NodeIndex here, const std::string& interface) {
  std::vector<const Cable*> cables;
  for (const Cable& cable : topology.plugged_cables()) {
    const Port* const own = end_at(cable, here);
    if (own != nullptr && own->interface == interface) cables.push_back(&cable);
  }
  return cables;
}

absl::Status not_here(const Topology& topology, const Cable& cable) {
  const std::string& a = topology.node(cable.a.node).name;
  const std::string& b = topology.node(cable.b.node).name;
  return absl::InvalidArgumentError(absl::StrCat("cable ", routing::ShortCableNames(topology).with_full(cable),
                                                 " joins ", a, " and ", b, ": run this on ", a, " or on ", b));
}

absl::StatusOr<DrainTarget> here_or_refused(const Topology& topology, NodeIndex here, const Cable& cable) {
  if (end_at(cable, here) == nullptr) return not_here(topology, cable);
  return target_of(topology, here, cable);
}

absl::Status several(const Topology& topology, const std::string& interface, const std::vector<const Cable*>& cables) {
  const routing::ShortCableNames short_names(topology);
  const std::string names = absl::StrJoin(
      cables, ", ", [&](std::string* text, const Cable* cable) { absl::StrAppend(text, short_names.of(*cable)); });
  return absl::InvalidArgumentError(
      absl::StrCat("port ", interface, " ends ", cables.size(), " cables: name one of ", names));
}

// What an operator may have meant.
void add_names(const routing::ShortCableNames& short_names, const Cable& cable, std::vector<std::string_view>& names) {
  names.push_back(short_names.of(cable));
  names.push_back(cable.name);
}

absl::Status unknown_anywhere(const Topology& topology, const std::string& name) {
  const routing::ShortCableNames short_names(topology);
  std::vector<std::string_view> names;
  for (const routing::Node& node : topology.nodes()) names.push_back(node.name);
  for (const Cable& cable : topology.plugged_cables()) add_names(short_names, cable, names);
  return absl::InvalidArgumentError(
      absl::StrCat(routing::in_quotes(name), routing::did_you_mean(name, names),
                   " is neither a node nor a cable that is up, nor the port of a cable here; see cableway topology"));
}

absl::Status unknown(const Topology& topology, NodeIndex here, const std::string& name) {
  const routing::ShortCableNames short_names(topology);
  std::vector<std::string_view> names = {topology.node(here).name};
  for (const Cable& cable : topology.plugged_cables()) {
    const Port* const own = end_at(cable, here);
    if (own == nullptr) continue;
    add_names(short_names, cable, names);
    if (!own->interface.empty()) names.push_back(own->interface);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      routing::in_quotes(name), routing::did_you_mean(name, names), " is neither node ", topology.node(here).name,
      ", nor a cable of it that is up, nor the port of one; see cableway topology"));
}

}  // namespace

std::string describe(const DrainTarget& target) {
  if (!target.is_cable()) return absl::StrCat("node ", target.node);
  return absl::StrCat("cable ", target.shown.empty() ? target.cable : target.shown);
}

absl::StatusOr<DrainTarget> find_drain_target(const Topology& topology, const std::string& here,
                                              const std::string& name) {
  const std::optional<NodeIndex> self = topology.find_node(here);
  if (!self.has_value()) {
    return absl::UnavailableError(absl::StrCat("node ", here, " is not in its topology yet: try again"));
  }
  if (name == here) return DrainTarget{.node = here, .drains = topology.node(*self).draining};
  if (const Cable* const cable = topology.find_plugged(name); cable != nullptr) {
    return here_or_refused(topology, *self, *cable);
  }
  const std::vector<const Cable*> at_port = cables_at(topology, *self, name);
  if (at_port.size() == 1) return target_of(topology, *self, *at_port.front());
  if (!at_port.empty()) return several(topology, name, at_port);
  if (topology.find_node(name).has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("this is node ", here, ": run this on ", name));
  }
  const absl::StatusOr<const Cable*> cable = routing::ShortCableNames(topology).find(name);
  if (cable.ok()) return here_or_refused(topology, *self, **cable);
  if (absl::IsInvalidArgument(cable.status())) return cable.status();
  return unknown(topology, *self, name);
}

absl::StatusOr<DrainTarget> find_checked_target(const Topology& topology, const std::string& here,
                                                const std::string& name) {
  absl::StatusOr<DrainTarget> target = find_drain_target(topology, here, name);
  if (target.ok() || !topology.find_node(here).has_value()) return target;
  const routing::ShortCableNames names(topology);
  const absl::StatusOr<const Cable*> cable = names.find(name);
  if (cable.ok()) {
    target = target_of(topology, (*cable)->a.node, **cable);
  } else if (const std::optional<NodeIndex> node = topology.find_node(name); node.has_value()) {
    target = DrainTarget{.node = name, .drains = topology.node(*node).draining};
  } else if (absl::IsInvalidArgument(cable.status())) {
    return cable.status();
  } else {
    return cables_at(topology, *topology.find_node(here), name).empty() ? unknown_anywhere(topology, name)
                                                                        : target.status();
  }
  target->is_here = false;
  return target;
}

}  // namespace cableway::cli
