#include "core/view/ports_view.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/ports/port_selector.h"
#include "core/settings/port_transport.h"
#include "core/view/neighbour_facts.h"
#include "core/view/status_parts.h"
#include "routing/text/json_schema.h"
#include "routing/topology/port_address.h"

namespace cableway {
namespace {

using Json = nlohmann::ordered_json;

Json rate_or_null(std::uint64_t rate_mbps) {
  return rate_mbps == 0 ? Json(nullptr) : Json(rate_mbps);
}

// Which of the neighbour's directions drops large packets; null: none, or it is not known.
Json large_lost_or_null(const LargePacketLoss& loss) {
  if (!loss.any()) return nullptr;
  return loss.from && loss.to ? "both" : loss.from ? "from" : "to";
}

Json neighbour_json(const Node& node, const NeighbourKey& key, const Neighbour& neighbour) {
  const auto ms = [&](Instant since) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(node.now() - since).count();
  };
  const routing::AdvertisedPort* const port = neighbour_port(node, key);
  return {{"node", neighbour.name},
          {"interface", neighbour.interface},
          {"state", state_text(neighbour)},
          {"hears_us", neighbour.hears_us},
          {"large_lost", large_lost_or_null(neighbour.large_lost)},
          {"our_address", neighbour.up ? Json(routing::to_text(neighbour.addresses.ours)) : Json(nullptr)},
          {"address", neighbour.up ? Json(routing::to_text(neighbour.addresses.theirs)) : Json(nullptr)},
          {"rate_mbps", port_rate_or_null(port)},
          {"link_mbps", port == nullptr ? Json(nullptr) : rate_or_null(port->link_mbps)},
          {"latency_us", latency_or_null(neighbour)},
          {"known_ms", ms(neighbour.heard_since)},
          {"heard_ms", ms(neighbour.last_heard)}};
}

// One that has not answered this node's challenge yet, or never does, as it does not hear this node or is a recording;
// or that did, and has another node's name or found no room.
Json challenged_json(const Node& node, const Life& life) {
  const auto ms = [&](Instant since) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(node.now() - since).count();
  };
  return {{"node", life.name},
          {"interface", life.interface},
          {"state", "heard"},
          {"hears_us", nullptr},
          {"large_lost", nullptr},
          {"our_address", nullptr},
          {"address", nullptr},
          {"rate_mbps", nullptr},
          {"link_mbps", nullptr},
          {"latency_us", nullptr},
          {"known_ms", ms(life.heard_since)},
          {"heard_ms", ms(life.last_heard)}};
}

Json control_json(const ControlCounters& counters, PortId port) {
  const auto found = std::find_if(counters.ports.begin(), counters.ports.end(),
                                  [&](const PortControlCounters& each) { return each.port == port; });
  if (found == counters.ports.end()) return nullptr;
  Json errors = Json::object();
  for (const auto& [number, count] : found->send_errors) {
    const char* name = ::strerrorname_np(number);
    errors[name != nullptr ? name : std::to_string(number)] = count;
  }
  return {{"sent", found->sent},
          {"received", found->received},
          {"oversized", found->oversized},
          {"foreign", found->foreign},
          {"own", found->own},
          {"ttl_refused", found->ttl_refused},
          {"send_errors", errors},
          {"last_error", or_null(found->last_error)},
          {"not_open", found->not_open}};
}

Json neighbours_json(const Node& node, PortId port) {
  Json neighbours = Json::array();
  for (const auto& [key, neighbour] : node.neighbours().all()) {
    if (key.port == port) neighbours.push_back(neighbour_json(node, key, neighbour));
  }
  for (const auto& [key, life] : node.neighbours().challenged()) {
    const bool is_own = key.end.node == node.identity().id();
    if (key.end.port == port && !is_own) neighbours.push_back(challenged_json(node, life));
  }
  return neighbours;
}

}  // namespace

nlohmann::ordered_json port_json(const PortFacts& port, TransportSetting setting) {
  Json addresses = Json::array();
  for (const PortPrefix& prefix : port.addresses) addresses.push_back(to_text(prefix));
  const PortTransport transport = transport_of(port, setting);
  const bool usable = port.gid_index >= 0;
  Json json = {{"interface", port.interface},
               {"addresses", addresses},
               {"mtu", port.mtu},
               {"rate_mbps", rate_or_null(port.rate_mbps)},
               {"link_mbps", rate_or_null(port.link_mbps)},
               {"carrier", port.carrier},
               {"rdma_device", or_null(port.rdma_device)},
               {"rdma_usable", port.rdma_device.empty() ? Json(nullptr) : Json(usable)},
               {"gid_index", usable ? Json(port.gid_index) : Json(nullptr)},
               {"roce_version", usable ? Json(2) : Json(nullptr)},
               {"rdma_mtu", port.rdma_mtu == 0 ? Json(nullptr) : Json(port.rdma_mtu)},
               {"rdma_trouble", or_null(port.rdma_trouble)},
               {"transport", name_of(transport.kind)},
               {"transport_reason", transport.why},
               {"plug", or_null(port.plug)},
               {"root", or_null(port.root)},
               {"root_mbps", rate_or_null(port.root_mbps)},
               {"neighbours", nullptr},
               {"control", nullptr}};
  put_bytes({}, json);
  return json;
}

nlohmann::ordered_json ports_json(const Node& node, TransportSetting setting, const ControlCounters& counters) {
  Json ports = Json::array();
  for (const PortFacts& port : node.neighbours().ports()) {
    Json& shown = ports.emplace_back(port_json(port, setting));
    shown["neighbours"] = neighbours_json(node, port.id);
    shown["control"] = control_json(counters, port.id);
  }
  return ports;
}

std::string ports_view(const Node& node, TransportSetting setting, const std::vector<RejectedPort>& rejected,
                       const ControlCounters& counters, const ReadPortBytes& port_bytes) {
  Json ports = ports_json(node, setting, counters);
  add_port_bytes(port_bytes, ports);
  Json not_used = Json::array();
  for (const RejectedPort& each : rejected)
    not_used.push_back({{"interface", each.interface}, {"reason", each.reason}, {"requested", each.requested}});
  const Neighbours::Counters& heard = node.neighbours().counters();
  const Json view = {{routing::kSchemaMember, routing::kJsonSchema},
                     {"node", node.identity().name},
                     {"cluster", node.identity().cluster},
                     {"ports", std::move(ports)},
                     {"rejected", not_used},
                     {"dropped",
                      {{"garbage", heard.garbage},
                       {"refused", heard.refused},
                       {"replayed", heard.replayed},
                       {"unknown", heard.unknown}}}};
  // A name that is not UTF-8 is shown with replacement characters; the default is to throw.
  return view.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cableway
