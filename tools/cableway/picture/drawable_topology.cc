#include "tools/cableway/picture/drawable_topology.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/topology/physical_cable.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

using routing::PhysicalCable;
using routing::PhysicalCables;
using routing::Topology;

constexpr std::size_t kLeastPorts = 3;

// Connectors that wires between them put together.
class Segments {
 public:
  explicit Segments(const PhysicalCables& physical) : parent_(physical.connectors.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (const PhysicalCable& wire : physical.cables) {
      if (wire.shared_at_a && wire.shared_at_b) parent_[root_of(*wire.shared_at_a)] = root_of(*wire.shared_at_b);
    }
    for (std::size_t i = 0; i < parent_.size(); ++i) members_[root_of(i)].push_back(i);
    for (const PhysicalCable& wire : physical.cables) {
      if (wire.shared_at_a && wire.shared_at_b) ++wires_[root_of(*wire.shared_at_a)];
    }
  }

  // Those whose connectors are all joined with each other, by lists of connectors.
  std::vector<std::vector<std::size_t>> switches() const {
    std::vector<std::vector<std::size_t>> found;
    for (const auto& [root, members] : members_) {
      const auto wires = wires_.find(root);
      const std::size_t pairs = members.size() * (members.size() - 1) / 2;
      if (members.size() >= kLeastPorts && wires != wires_.end() && wires->second == pairs) found.push_back(members);
    }
    return found;
  }

 private:
  std::size_t root_of(std::size_t connector) {
    while (parent_[connector] != connector) connector = parent_[connector] = parent_[parent_[connector]];
    return connector;
  }

  std::vector<std::size_t> parent_;
  std::map<std::size_t, std::vector<std::size_t>> members_;
  std::map<std::size_t, std::size_t> wires_;
};

class Drawable {
 public:
  Drawable(const Topology& topology, const PictureMarks& marks)
      : topology_(topology), physical_(routing::physical_cables(topology)), marks_(marks) {
    nodes_.assign(topology.nodes().begin(), topology.nodes().end());
    replaced_.assign(topology.cable_count(), false);
  }

  MarkedTopology make() && {
    for (const std::vector<std::size_t>& ports : Segments(physical_).switches()) {
      if (!has_mark(ports)) add_switch(ports);
    }
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) {
      if (!replaced_[i]) cables_.push_back(topology_.cables()[i]);
    }
    for (const routing::Cable& cable : topology_.unused_cables()) add_unused(cable);
    absl::StatusOr<Topology> drawn = Topology::create(topology_.cluster(), std::move(nodes_), std::move(cables_));
    if (!drawn.ok()) return {topology_, marks_before_};
    return {*std::move(drawn), std::move(marks_)};
  }

 private:
  void add_switch(const std::vector<std::size_t>& ports) {
    std::string name = "switch";
    for (int number = 2; topology_.find_node(name) || !names_.insert(name).second; ++number) {
      name = absl::StrCat("switch-", number);
    }
    marks_.looks[name] = NodeLook{.is_switch = true};
    const routing::NodeIndex index{static_cast<std::uint32_t>(nodes_.size())};
    nodes_.push_back({.name = name});
    for (const std::size_t port : ports) add_port(index, physical_.connectors[port]);
  }

  // A cable that is marked stays one, so that its mark is seen.
  bool has_mark(const std::vector<std::size_t>& ports) const {
    return std::any_of(ports.begin(), ports.end(), [&](std::size_t port) {
      const std::vector<std::size_t>& wires = physical_.connectors[port].physical_cables;
      return std::any_of(wires.begin(), wires.end(), [&](std::size_t wire) {
        const std::vector<routing::CableIndex>& cables = physical_.cables[wire].cables;
        return std::any_of(cables.begin(), cables.end(), [&](routing::CableIndex cable) {
          return marks_.cables.contains(topology_.cable(cable).name);
        });
      });
    });
  }

  void add_port(routing::NodeIndex at_switch, const routing::SharedConnector& port) {
    for (const std::size_t wire : port.physical_cables) {
      for (const routing::CableIndex cable : physical_.cables[wire].cables) replaced_[cable.value] = true;
    }
    const routing::CableIndex first = physical_.cables[port.physical_cables.front()].cables.front();
    routing::Cable cable{.name = unused_name(),
                         .a = {.node = port.node, .interface = {}, .address = address(1)},
                         .b = {.node = at_switch, .interface = {}, .address = address(2)},
                         .rate_mbps = port.rate_mbps};
    CableMark& mark = marks_.cables[cable.name];
    mark.kind = CableMark::Kind::kSwitchPort;
    mark.label = rate_text(port.rate_mbps);
    mark.about = absl::StrCat(routing::connector_name(topology_, physical_, port), " ",
                              topology_.port_at(first, port.node).address, " on a switch, ", mark.label, ", joins ",
                              port.physical_cables.size(), " other ports");
    cables_.push_back(std::move(cable));
  }

  void add_unused(routing::Cable cable) {
    CableMark& mark = marks_.cables[cable.name];
    if (mark.label.empty()) {
      mark.kind = CableMark::Kind::kUnused;
      mark.label = cable.draining ? "draining" : absl::StrCat("loses ", cable.loss_percent, " %");
      mark.about = describe_cable(topology_, cable);
    }
    cable.draining = false;
    cable.loss_percent = 0;
    cables_.push_back(std::move(cable));
  }

  std::string unused_name() {
    std::string name;
    do {
      name = absl::StrCat("port-", ++number_);
    } while (topology_.find_plugged(name) != nullptr);
    return name;
  }
  // Of the dummy prefix 100:0:0:1::/64 (RFC 9780), which no host has.
  std::string address(int end) const { return absl::StrFormat("100:0:0:1::%x:%d", number_, end); }

  const Topology& topology_;
  const PhysicalCables physical_;
  PictureMarks marks_;
  const PictureMarks marks_before_ = marks_;
  std::vector<routing::Node> nodes_;
  std::vector<routing::Cable> cables_;
  std::vector<bool> replaced_;  // by cable
  std::set<std::string> names_;
  unsigned number_ = 0;
};

}  // namespace

MarkedTopology drawable_topology(const Topology& topology, const PictureMarks& marks) {
  return Drawable(topology, marks).make();
}

}  // namespace cableway::cli
