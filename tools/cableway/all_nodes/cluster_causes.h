// What the nodes of a cluster know to be wrong (doctor/known_causes.h), for findings of other nodes: a cause at one end
// of a cable explains what follows from it at the other end. Only causes that are findings themselves explain anything.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_CLUSTER_CAUSES_H_
#define CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_CLUSTER_CAUSES_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tools/cableway/all_nodes/cable_end.h"
#include "tools/cableway/all_nodes/node_documents.h"
#include "tools/cableway/doctor/known_causes.h"

namespace cableway::cli {

class ClusterCauses {
 public:
  // Throws Json::exception if its view `doctor` is malformed; then nothing was added.
  void add(const NodeDocument& node);
  // `sender` is heard at `receiver`, and does not hear it: a finding of the receiver.
  void add_one_way(const CableEnd& receiver, const CableEnd& sender);

  bool knows(const std::string& node) const { return nodes_.contains(node); }
  // The only port that hears this one. nullopt: none does, or several do.
  std::optional<CableEnd> only_hearer(const CableEnd& end) const;

  // Whether a finding with this code at `here` follows from another one. `there`: the other end of its cable.
  bool explain(const std::string& code, const CableEnd& here, const std::optional<CableEnd>& there) const;

 private:
  struct Known {
    KnownCauses causes;
    std::set<std::string> unusable;  // interfaces that were requested, and are no ports
  };

  bool is_unusable(const CableEnd& end) const;
  bool has_unusable(const std::string& node) const;
  bool is_heard(const CableEnd& sender, const CableEnd& receiver) const;
  bool is_unheard(const CableEnd& here, const CableEnd& there) const;
  bool is_refused(const CableEnd& here, const CableEnd& there) const;

  std::map<std::string, Known> nodes_;
  std::map<CableEnd, std::set<CableEnd>> hearers_;   // by the end that is heard
  std::set<std::pair<CableEnd, CableEnd>> one_way_;  // the receiver, and the sender, which does not hear it
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_CLUSTER_CAUSES_H_
