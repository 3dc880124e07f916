#include "tools/cableway/address_plan/plan_record.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/text/json_schema.h"
#include "tools/cableway/expectation/fitting_tuner.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {
namespace {

Json end_json(const PlannedCable& cable, PlannedPort PlannedLink::*end) {
  const PlannedPort& first = cable.links.front().*end;
  Json interfaces = Json::array();
  for (const PlannedLink& link : cable.links) interfaces.push_back((link.*end).interface);
  return {{"node", first.host}, {"plug", first.plug.empty() ? Json() : Json(first.plug)}, {"interfaces", interfaces}};
}

Json host_json(const AddressPlan& plan, const std::string& host, const std::vector<HostPort>& host_ports) {
  Json ports = Json::array();
  for (const HostPort& port : host_ports) {
    ports.push_back({{"interface", port.here->interface},
                     {"plug", port.here->plug.empty() ? Json() : Json(port.here->plug)},
                     {"address", absl::StrCat(port.here->address, "/", plan.subnet_bits)},
                     {"cable", port.link->name},
                     {"neighbour", port.there->host},
                     {"neighbour_interface", port.there->interface}});
  }
  return {{"node", host}, {"ports", std::move(ports)}};
}

}  // namespace

std::string address_plan_json(const AddressPlan& plan, const std::string& format, int mtu,
                              const std::vector<PlanFile>& files) {
  Json view = {{routing::kSchemaMember, routing::kJsonSchema}, {"format", format}, {"mtu", mtu}};
  const std::optional<TunerSetting> tuner = fitting_tuner(plan.expected);
  view["tuner"] = tuner ? Json(tuner_name(*tuner)) : Json();
  view["hosts"] = Json::array();
  const auto ports = ports_by_host(plan);
  for (const std::string& host : plan.hosts) {
    const auto found = ports.find(host);
    view["hosts"].push_back(host_json(plan, host, found == ports.end() ? std::vector<HostPort>{} : found->second));
  }
  view["cables"] = Json::array();
  for (const PlannedCable& cable : plan.cables) {
    Json subnets = Json::array();
    for (const PlannedLink& link : cable.links) subnets.push_back(link.subnet);
    view["cables"].push_back({{"from", end_json(cable, &PlannedLink::from)},
                              {"to", end_json(cable, &PlannedLink::to)},
                              {"subnets", std::move(subnets)}});
  }
  view["files"] = Json::array();
  for (const PlanFile& file : files) view["files"].push_back({{"name", file.name}, {"text", file.text}});
  return view.dump(2) + "\n";
}

}  // namespace cableway::cli
