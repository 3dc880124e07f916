// Short names of cables, for tables and for what operators type. JSON and files have the full names.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_SHORT_CABLE_NAMES_H_
#define CABLEWAY_ROUTING_TOPOLOGY_SHORT_CABLE_NAMES_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// A cable with a discovered name (cable_name.h) is "n0-n1" here, or "n0-n1#2" where several cables join these nodes:
// they are counted from 1, in the order of their full names, so that a drain changes no number. It keeps its full name
// where the short one could mean something else: another cable or node has that name, or nodes' names with a '-' allow
// another pair. A name that an operator chose is kept.
//
//     ShortCableNames names(topology);
//     names.of(cable);             // "n0-n1#2"
//     names.find("n0-n1");         // Error: it names 2 cables: n0-n1#1 (n0.eth1-n1.eth1), n0-n1#2 (..)
class ShortCableNames {
 public:
  // The topology outlives this.
  explicit ShortCableNames(const Topology& topology);

  // Precondition: one of the topology's plugged_cables().
  const std::string& of(const Cable& cable) const { return short_.find(cable.name)->second; }
  const std::string& of(CableIndex cable) const { return of(topology_.cable(cable)); }
  // The short name of the cable with this full name; the full name itself where the topology has no such cable.
  const std::string& of_name(const std::string& full) const;

  // The text with the full names of cables in it, such as those of paths and of reasons, replaced by their short ones.
  // A name that is part of a longer word stays.
  std::string in_text(std::string_view text) const;

  // The short name, and the full one in brackets where it is another: "n0-n1 (n0.eth1-n1.eth0)".
  std::string with_full(const Cable& cable) const;

  // By its full or short name, or by its two nodes in either order. NotFound: there is none; InvalidArgument: it names
  // several cables, and lists them.
  absl::StatusOr<const Cable*> find(std::string_view name) const;

 private:
  using Pair = std::pair<NodeIndex, NodeIndex>;

  const std::vector<const Cable*>* between(std::string_view a, std::string_view b) const;
  std::string short_name(const Cable& cable) const;
  std::vector<const Cable*> candidates(std::string_view name) const;

  const Topology& topology_;
  std::map<Pair, std::vector<const Cable*>> pairs_;  // the lower node first; by full name
  std::map<std::string, std::string> short_;         // by full name
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_SHORT_CABLE_NAMES_H_
