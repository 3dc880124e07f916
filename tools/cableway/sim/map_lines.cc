#include "tools/cableway/sim/map_lines.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/topology/short_cable_names.h"
#include "tools/cableway/picture/node_look.h"

namespace cableway::cli {
namespace {

using routing::CableIndex;
using routing::Topology;

std::set<CableIndex> cut_cables(const SimReport& report) {
  std::set<CableIndex> cut;
  for (const sim::CutEffect& effect : report.prediction.cuts) {
    if (effect.happened) cut.insert(effect.wire.begin(), effect.wire.end());
  }
  return cut;
}

class Lines {
 public:
  explicit Lines(const SimReport& report)
      : report_(report),
        topology_(report.topology),
        names_(report.topology),
        busy_(wire_utilisations(report)),
        cut_(cut_cables(report)) {}

  MapLine of_cable(CableIndex cable) const {
    return {.name = own_name(topology_, topology_.cable(cable)),
            .from_a = direction(cable, true),
            .from_b = direction(cable, false),
            .is_cut = cut_.contains(cable)};
  }

  // Each direction carries the sum of all cables at the port.
  MapLine of_port(const routing::SwitchPort& port, bool is_at_a) const {
    MapLine::Direction out{.title = absl::StrCat(port.name, ", out")};
    MapLine::Direction in{.title = absl::StrCat(port.name, ", in")};
    for (const std::string& name : port.cables) {
      const CableIndex cable = *topology_.find_cable(name);
      const bool leaves_a = topology_.node(topology_.cable(cable).a.node).name == port.node;
      add(load(cable, leaves_a), port.rate_mbps, out);
      add(load(cable, !leaves_a), port.rate_mbps, in);
    }
    if (!is_at_a) std::swap(out, in);
    return {.name = {}, .from_a = std::move(out), .from_b = std::move(in)};
  }

 private:
  const sim::CableLoad& load(CableIndex cable, bool from_a) const {
    return report_.prediction.cables[2ULL * cable.value + (from_a ? 0 : 1)];
  }

  void add(const sim::CableLoad& load, std::uint64_t port_mbps, MapLine::Direction& sum) const {
    sum.bytes += load.bytes;
    sum.utilisation +=
        load.utilisation * static_cast<double>(topology_.cable(load.cable).rate_mbps) / static_cast<double>(port_mbps);
  }

  MapLine::Direction direction(CableIndex cable, bool from_a) const {
    return {.title = absl::StrCat(names_.of(cable), " ", direction_text(topology_, cable, from_a)),
            .bytes = load(cable, from_a).bytes,
            .utilisation = busy_[2ULL * cable.value + (from_a ? 0 : 1)]};
  }

  const SimReport& report_;
  const Topology& topology_;
  const routing::ShortCableNames names_;
  const std::vector<double> busy_;  // by direction
  const std::set<CableIndex> cut_;
};

}  // namespace

routing::BoxedTopology boxed_topology(const SimReport& report) {
  std::set<std::string, std::less<>> cut;
  for (const CableIndex cable : cut_cables(report)) cut.insert(report.topology.cable(cable).name);
  return with_switch_boxes(report.topology, [&](const routing::Cable& cable) { return cut.contains(cable.name); });
}

std::vector<MapLine> map_lines(const SimReport& report, const routing::BoxedTopology& boxed) {
  const Lines lines(report);
  std::vector<MapLine> all;
  for (const routing::Cable& drawn : boxed.drawn.cables()) {
    if (const auto port = boxed.ports.find(drawn.name); port != boxed.ports.end()) {
      all.push_back(lines.of_port(port->second, boxed.drawn.node(drawn.a.node).name == port->second.node));
    } else if (const std::optional<CableIndex> cable = report.topology.find_cable(drawn.name)) {
      all.push_back(lines.of_cable(*cable));
    } else {
      all.push_back({});  // in use only in the drawing
    }
  }
  return all;
}

}  // namespace cableway::cli
