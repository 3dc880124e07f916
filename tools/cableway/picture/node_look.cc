#include "tools/cableway/picture/node_look.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/topology/cable_name.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

std::string describe_end(const routing::Topology& topology, const routing::Port& port) {
  return absl::StrCat(topology.node(port.node).name, port.interface.empty() ? "" : " ", port.interface, " ",
                      port.address);
}

}  // namespace

std::vector<NodeLook> node_looks(const routing::Topology& topology, std::optional<routing::NodeIndex> self) {
  std::vector<NodeLook> looks(topology.node_count());
  const std::vector<std::vector<routing::NodeIndex>> parts = topology.components();
  auto near = std::max_element(parts.begin(), parts.end(),
                               [](const auto& left, const auto& right) { return left.size() < right.size(); });
  if (self) {
    looks[self->value].self = true;
    near = std::find_if(parts.begin(), parts.end(),
                        [&](const auto& part) { return std::binary_search(part.begin(), part.end(), *self); });
  }
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    looks[i].draining = topology.nodes()[i].draining;
    looks[i].unreached = !std::binary_search(near->begin(), near->end(), routing::NodeIndex{i});
  }
  return looks;
}

std::map<std::string, NodeLook> looks_by_name(const routing::Topology& topology,
                                              std::optional<routing::NodeIndex> self) {
  const std::vector<NodeLook> looks = node_looks(topology, self);
  std::map<std::string, NodeLook> by_name;
  for (std::size_t i = 0; i < looks.size(); ++i) by_name[topology.nodes()[i].name] = looks[i];
  return by_name;
}

std::string note_of(const NodeLook& look) {
  std::vector<const char*> notes;
  if (look.draining) notes.push_back("draining");
  if (look.unreached) notes.push_back("unreached");
  if (look.missing) notes.push_back("missing");
  if (look.extra) notes.push_back("not expected");
  return absl::StrJoin(notes, ", ");
}

std::string own_name(const routing::Topology& topology, const routing::Cable& cable) {
  return routing::has_default_name(topology, cable) ? "" : cable.name;
}

std::string describe_cable(const routing::Topology& topology, const routing::Cable& cable) {
  return absl::StrCat(cable.name, ": ", describe_end(topology, cable.a), " - ", describe_end(topology, cable.b), ", ",
                      rate_text(cable.rate_mbps), cable.latency_us ? ", " : ", latency ",
                      latency_text(cable.latency_us), cable.routed ? ", routed" : "",
                      cable.draining ? ", draining" : "",
                      cable.loss_percent > 0 ? absl::StrCat(", loses ", cable.loss_percent, " % of packets") : "");
}

}  // namespace cableway::cli
