#include "routing/paths/cable_parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "routing/topology/physical_cable.h"

namespace cableway::routing {
namespace {

constexpr std::uint32_t kNoPart = 0xffffffff;

// Per cable and direction: the uses of all parts but the cable itself.
using Uses = std::vector<std::vector<PartUse>>;

std::uint32_t weight_of(std::uint64_t fastest_mbps, std::uint64_t rate_mbps) {
  const std::uint64_t weight = kWholePart * std::min(fastest_mbps, rate_mbps) / rate_mbps;
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(weight));
}

}  // namespace

class CablePartsBuilder {
 public:
  explicit CablePartsBuilder(const Topology& topology)
      : topology_(topology),
        physical_(physical_cables(topology)),
        next_(static_cast<std::uint32_t>(topology.cable_count())),
        uses_(2 * topology.cable_count()) {}

  std::shared_ptr<const CableParts> build() {
    add_wires();
    add_ports();
    add_plugs();
    add_roots();
    if (next_ == topology_.cable_count()) return nullptr;
    CableParts parts;
    parts.count_ = next_;
    parts.wire_ = physical_.place_of_cable;
    parts.plug_place_ = plug_places();
    parts.begin_.push_back(0);
    for (std::uint32_t place = 0; place < uses_.size(); ++place) {
      parts.uses_.push_back({place / 2, kWholePart});
      parts.uses_.insert(parts.uses_.end(), uses_[place].begin(), uses_[place].end());
      parts.begin_.push_back(static_cast<std::uint32_t>(parts.uses_.size()));
    }
    return std::make_shared<const CableParts>(std::move(parts));
  }

 private:
  std::vector<std::uint32_t> plug_places() const {
    std::vector<std::uint32_t> places(uses_.size(), 0);
    std::vector<std::string_view> plugs;
    for (std::uint32_t i = 0; i < topology_.node_count(); ++i) {
      plugs.clear();
      // Also those without cables, so that fewer places change when cables come and go.
      for (const SharedPart& plug : topology_.node(NodeIndex{i}).plugs) plugs.emplace_back(plug.name);
      for (const Adjacency& each : topology_.adjacencies(NodeIndex{i})) {
        const std::string& plug = topology_.port_at(each.cable, NodeIndex{i}).plug;
        if (!plug.empty()) plugs.emplace_back(plug);
      }
      std::sort(plugs.begin(), plugs.end());
      plugs.erase(std::unique(plugs.begin(), plugs.end()), plugs.end());
      for (const Adjacency& each : topology_.adjacencies(NodeIndex{i})) {
        const std::string& plug = topology_.port_at(each.cable, NodeIndex{i}).plug;
        if (plug.empty()) continue;
        const auto place = std::lower_bound(plugs.begin(), plugs.end(), plug) - plugs.begin();
        const bool from_a = topology_.cable(each.cable).a.node == NodeIndex{i};
        places[2ULL * each.cable.value + (from_a ? 0 : 1)] = static_cast<std::uint32_t>(place);
      }
    }
    return places;
  }

  std::uint64_t fastest_of(std::span<const CableIndex> cables) const {
    std::uint64_t fastest = 0;
    for (const CableIndex cable : cables) fastest = std::max(fastest, topology_.cable(cable).rate_mbps);
    return fastest;
  }

  // Two parts: out of `node` and into it. rate_mbps: 0 if it is that of the fastest cable.
  void add_at(NodeIndex node, std::span<const CableIndex> cables, std::uint64_t rate_mbps) {
    const std::uint64_t fastest = fastest_of(cables);
    const std::uint32_t weight = weight_of(fastest, rate_mbps == 0 ? fastest : rate_mbps);
    for (const CableIndex cable : cables) {
      const bool at_a = topology_.cable(cable).a.node == node;
      uses_[2ULL * cable.value + (at_a ? 0 : 1)].push_back({next_, weight});
      uses_[2ULL * cable.value + (at_a ? 1 : 0)].push_back({next_ + 1, weight});
    }
    next_ += 2;
  }

  // One part for both directions: paths of one pair of nodes cross a wire in the same direction.
  void add_wires() {
    for (const PhysicalCable& wire : physical_.cables) {
      if (wire.cables.size() < 2) continue;
      const std::uint32_t weight = weight_of(fastest_of(wire.cables), wire.rate_mbps);
      for (const CableIndex cable : wire.cables) {
        for (const std::size_t way : {0U, 1U}) uses_[2ULL * cable.value + way].push_back({next_, weight});
      }
      ++next_;
    }
  }

  void add_ports() {
    std::map<std::pair<NodeIndex, std::string_view>, std::vector<CableIndex>> ending_at;
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) {
      const Cable& cable = topology_.cables()[i];
      for (const Port* port : {&cable.a, &cable.b}) {
        if (!port->interface.empty()) ending_at[{port->node, port->interface}].push_back(CableIndex{i});
      }
    }
    for (const auto& [port, cables] : ending_at) {
      if (cables.size() > 1) add_at(port.first, cables, 0);
    }
  }

  // Plugs of several wires. A connector without a plug is a port, which add_ports() handles.
  void add_plugs() {
    for (const SharedConnector& connector : physical_.connectors) {
      std::vector<CableIndex> cables;
      for (const std::size_t place : connector.physical_cables) {
        const std::vector<CableIndex>& wire = physical_.cables[place].cables;
        cables.insert(cables.end(), wire.begin(), wire.end());
      }
      if (topology_.port_at(cables.front(), connector.node).plug.empty()) continue;
      add_at(connector.node, cables, connector.rate_mbps);
    }
  }

  void add_roots() {
    for (const SharedRoot& root : physical_.roots) add_at(root.node, root.cables, root.rate_mbps);
  }

  const Topology& topology_;
  const PhysicalCables physical_;
  std::uint32_t next_;
  Uses uses_;
};

std::shared_ptr<const CableParts> CableParts::find(const Topology& topology) {
  return may_share_hardware(topology) ? CablePartsBuilder(topology).build() : nullptr;
}

std::vector<CableIndex> cables_with_changed_parts(const CableParts* before, const CableParts* after,
                                                  std::span<const std::uint32_t> new_cable) {
  if (before == nullptr && after == nullptr) return {};
  const auto uses = [](const CableParts* parts, std::uint32_t cable, bool from_a) {
    const std::span<const PartUse> all = parts == nullptr ? std::span<const PartUse>() : parts->of({cable}, from_a);
    return all.empty() ? all : all.subspan(1);  // without the cable itself
  };
  // Parts of the two topologies correspond if every cable so far has them at the same place.
  std::vector<std::uint32_t> new_part(before == nullptr ? 0 : before->count(), kNoPart);
  std::vector<std::uint32_t> old_part(after == nullptr ? 0 : after->count(), kNoPart);
  const auto corresponds = [&](const PartUse& was, const PartUse& is) {
    if (new_part[was.part] == kNoPart && old_part[is.part] == kNoPart) {
      new_part[was.part] = is.part;
      old_part[is.part] = was.part;
    }
    return new_part[was.part] == is.part && old_part[is.part] == was.part && was.weight == is.weight;
  };
  std::vector<CableIndex> changed;
  for (std::uint32_t cable = 0; cable < new_cable.size(); ++cable) {
    if (new_cable[cable] == kGoneCable) continue;
    bool same = true;
    for (const bool from_a : {true, false}) {
      const std::span<const PartUse> was = uses(before, cable, from_a);
      const std::span<const PartUse> is = uses(after, new_cable[cable], from_a);
      same = same && std::equal(was.begin(), was.end(), is.begin(), is.end(), corresponds) &&
             (before == nullptr || after == nullptr ||
              before->plug_place({cable}, from_a) == after->plug_place({new_cable[cable]}, from_a));
    }
    if (!same) changed.push_back(CableIndex{cable});
  }
  return changed;
}

}  // namespace cableway::routing
