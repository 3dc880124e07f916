#include "tools/cableway/views/topology_view.h"

#include "absl/strings/str_cat.h"
#include "routing/text/json_schema.h"
#include "routing/topology_io/topology_drawing.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

Json port_json(const routing::Topology& topology, const routing::Port& port) {
  return {{"node", topology.node(port.node).name},
          {"interface", port.interface},
          {"address", port.address},
          {"plug", port.plug}};
}

std::string interface_text(const routing::Port& port) {
  return port.interface.empty() ? "-" : port.interface;
}

}  // namespace

std::string topology_text(const routing::Topology& topology) {
  using Align = TextTable::Align;
  TextTable table({{"cable"},
                   {"from"},
                   {"interface"},
                   {"address"},
                   {"to"},
                   {"interface"},
                   {"address"},
                   {"Mbit/s", Align::kRight},
                   {"us", Align::kRight},
                   {""}});
  for (const routing::Cable& cable : topology.cables()) {
    table.add_row({cable.name, topology.node(cable.a.node).name, interface_text(cable.a), cable.a.address,
                   topology.node(cable.b.node).name, interface_text(cable.b), cable.b.address,
                   absl::StrCat(cable.rate_mbps), absl::StrCat(cable.latency_us),
                   cable.routed ? "through IP routers" : ""});
  }
  return absl::StrCat(routing::draw_topology(topology), "\n", table.text());
}

std::string topology_json(const routing::Topology& topology) {
  Json nodes = Json::array();
  for (const routing::Node& node : topology.nodes()) {
    nodes.push_back({{"name", node.name}, {"relay_port", node.relay_port}, {"draining", node.draining}});
  }
  Json cables = Json::array();
  for (const routing::Cable& cable : topology.cables()) {
    cables.push_back({{"name", cable.name},
                      {"ends", Json::array({port_json(topology, cable.a), port_json(topology, cable.b)})},
                      {"rate_mbps", cable.rate_mbps},
                      {"latency_us", cable.latency_us},
                      {"routed", cable.routed}});
  }
  const Json view = {{routing::kSchemaMember, routing::kJsonSchema},
                     {"cluster", topology.cluster()},
                     {"nodes", nodes},
                     {"cables", cables}};
  return view.dump(2) + "\n";
}

}  // namespace cableway::cli
