#include "sim/prediction/cable_load.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "routing/topology/physical_cable.h"
#include "sim/cable/rate.h"

namespace cableway::sim {
namespace {

using routing::CableIndex;
using routing::Topology;

class SharedLoads {
 public:
  SharedLoads(const Topology& topology, std::span<const CableLoad> loads, double whole_s)
      : topology_(topology), loads_(loads), whole_s_(whole_s), physical_(routing::physical_cables(topology)) {}

  std::vector<SharedLoad> find() const {
    std::vector<SharedLoad> found;
    for (const routing::PhysicalCable& wire : physical_.cables) {
      if (wire.cables.size() > 1) found.push_back(of_wire(wire));
    }
    for (const routing::SharedConnector& connector : physical_.connectors) found.push_back(of_connector(connector));
    for (const routing::SharedRoot& root : physical_.roots) {
      found.push_back(summed({SharedLoad::Kind::kRoot,
                              routing::root_name(topology_, root),
                              root.cables,
                              root.node,
                              root.rate_mbps,
                              {},
                              {}}));
    }
    return found;
  }

 private:
  SharedLoad of_wire(const routing::PhysicalCable& wire) const {
    const std::string name = absl::StrJoin(
        wire.cables, "=", [this](std::string* out, CableIndex cable) { *out += topology_.cable(cable).name; });
    return summed({SharedLoad::Kind::kWire, name, wire.cables, wire.a, wire.rate_mbps, {}, {}});
  }

  SharedLoad of_connector(const routing::SharedConnector& connector) const {
    std::vector<CableIndex> cables;
    for (const std::size_t place : connector.physical_cables) {
      const std::vector<CableIndex>& wire = physical_.cables[place].cables;
      cables.insert(cables.end(), wire.begin(), wire.end());
    }
    std::sort(cables.begin(), cables.end());
    return summed({SharedLoad::Kind::kConnector,
                   routing::connector_name(topology_, physical_, connector),
                   std::move(cables),
                   connector.node,
                   connector.rate_mbps,
                   {},
                   {}});
  }

  SharedLoad summed(SharedLoad load) const {
    for (const CableIndex cable : load.cables) {
      const bool is_a = topology_.cable(cable).a.node == load.node;
      load.out.bytes += loads_[2ULL * cable.value + (is_a ? 0 : 1)].bytes;
      load.in.bytes += loads_[2ULL * cable.value + (is_a ? 1 : 0)].bytes;
    }
    const double most = bytes_per_second(load.rate_mbps) * whole_s_;
    for (SharedLoad::Direction* direction : {&load.out, &load.in}) {
      direction->utilisation = most > 0 ? static_cast<double>(direction->bytes) / most : 0;
    }
    return load;
  }

  const Topology& topology_;
  const std::span<const CableLoad> loads_;
  const double whole_s_;
  const routing::PhysicalCables physical_;
};

}  // namespace

std::vector<SharedLoad> shared_loads(const Topology& topology, std::span<const CableLoad> loads, double whole_s) {
  return SharedLoads(topology, loads, whole_s).find();
}

}  // namespace cableway::sim
