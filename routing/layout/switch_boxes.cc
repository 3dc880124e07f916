#include "routing/layout/switch_boxes.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/topology/physical_cable.h"

namespace cableway::routing {
namespace {

constexpr std::size_t kLeastPorts = 3;

// Connectors that wires between them put together.
class Segments {
 public:
  explicit Segments(const PhysicalCables& physical) : physical_(physical), parent_(physical.connectors.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (const PhysicalCable& wire : physical.cables) {
      if (wire.shared_at_a && wire.shared_at_b) parent_[root_of(*wire.shared_at_a)] = root_of(*wire.shared_at_b);
    }
    for (std::size_t i = 0; i < parent_.size(); ++i) members_[root_of(i)].push_back(i);
    for (const PhysicalCable& wire : physical.cables) {
      if (wire.shared_at_a && wire.shared_at_b) ++wires_[root_of(*wire.shared_at_a)];
    }
  }

  // Those whose connectors are all joined with each other, and with nothing else, by lists of connectors.
  std::vector<std::vector<std::size_t>> switches() const {
    std::vector<std::vector<std::size_t>> found;
    for (const auto& [root, members] : members_) {
      const auto wires = wires_.find(root);
      const std::size_t others = members.size() - 1;
      const std::size_t pairs = members.size() * others / 2;
      if (members.size() < kLeastPorts || wires == wires_.end() || wires->second != pairs) continue;
      const bool joins_others = std::any_of(members.begin(), members.end(), [&](std::size_t each) {
        return physical_.connectors[each].physical_cables.size() != others;
      });
      if (!joins_others) found.push_back(members);
    }
    return found;
  }

 private:
  std::size_t root_of(std::size_t connector) {
    while (parent_[connector] != connector) connector = parent_[connector] = parent_[parent_[connector]];
    return connector;
  }

  const PhysicalCables& physical_;
  std::vector<std::size_t> parent_;
  std::map<std::size_t, std::vector<std::size_t>> members_;
  std::map<std::size_t, std::size_t> wires_;
};

class BoxDrawing {
 public:
  explicit BoxDrawing(const Topology& topology)
      : topology_(topology),
        physical_(physical_cables(topology)),
        nodes_(topology.nodes().begin(), topology.nodes().end()) {}

  BoxedTopology make(const std::function<bool(const Cable&)>& keeps) && {
    for (const std::vector<std::size_t>& connectors : Segments(physical_).switches()) {
      const std::vector<CableIndex> cables = cables_at(connectors);
      if (std::none_of(cables.begin(), cables.end(), [&](CableIndex each) { return keeps(topology_.cable(each)); })) {
        add_box(connectors);
      }
    }
    if (boxes_.empty()) return {topology_, {}, {}};
    for (const Cable& cable : topology_.plugged_cables()) {
      if (!replaced_.contains(cable.name)) cables_.push_back(cable);
    }
    absl::StatusOr<Topology> drawn = Topology::create(topology_.cluster(), std::move(nodes_), std::move(cables_));
    if (!drawn.ok()) return {topology_, {}, {}};
    return {*std::move(drawn), std::move(ports_), std::move(boxes_)};
  }

 private:
  std::vector<CableIndex> cables_at(const std::vector<std::size_t>& connectors) const {
    std::set<CableIndex> cables;
    for (const std::size_t connector : connectors) {
      for (const std::size_t wire : physical_.connectors[connector].physical_cables) {
        cables.insert(physical_.cables[wire].cables.begin(), physical_.cables[wire].cables.end());
      }
    }
    return {cables.begin(), cables.end()};
  }

  void add_box(const std::vector<std::size_t>& connectors) {
    std::string name = "switch";
    for (int number = 2; topology_.find_node(name) || !boxes_.insert(name).second; ++number) {
      name = absl::StrCat("switch-", number);
    }
    const NodeIndex index{static_cast<std::uint32_t>(nodes_.size())};
    nodes_.push_back({.name = name});
    for (const std::size_t connector : connectors) add_port(index, connector);
  }

  void add_port(NodeIndex at_box, std::size_t index) {
    const SharedConnector& connector = physical_.connectors[index];
    SwitchPort port{.box = nodes_[at_box.value].name,
                    .node = topology_.node(connector.node).name,
                    .name = connector_name(topology_, physical_, connector),
                    .cables = {},
                    .others = connector.physical_cables.size(),
                    .rate_mbps = connector.rate_mbps};
    for (const CableIndex cable : cables_at({index})) port.cables.push_back(topology_.cable(cable).name);
    replaced_.insert(port.cables.begin(), port.cables.end());
    cables_.push_back({.name = unused_name(),
                       .a = {.node = connector.node, .interface = {}, .address = address(1)},
                       .b = {.node = at_box, .interface = {}, .address = address(2)},
                       .rate_mbps = port.rate_mbps});
    ports_.emplace(cables_.back().name, std::move(port));
  }

  std::string unused_name() {
    std::string name;
    do {
      name = absl::StrCat("port-", ++number_);
    } while (topology_.find_plugged(name) != nullptr);
    return name;
  }
  // Of the dummy prefix 100:0:0:1::/64 (RFC 9780), which no host has; others that draw use it with 0 after it.
  std::string address(int end) const { return absl::StrFormat("100:0:0:1:1::%x:%d", number_, end); }

  const Topology& topology_;
  const PhysicalCables physical_;
  std::vector<Node> nodes_;
  std::vector<Cable> cables_;
  std::map<std::string, SwitchPort, std::less<>> ports_;
  std::set<std::string, std::less<>> boxes_;
  std::set<std::string, std::less<>> replaced_;  // names of cables
  unsigned number_ = 0;
};

}  // namespace

BoxedTopology with_switch_boxes(const Topology& topology, const std::function<bool(const Cable&)>& keeps) {
  return BoxDrawing(topology).make(keeps);
}

}  // namespace cableway::routing
