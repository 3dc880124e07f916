#include "tools/cableway/up/host_plan.h"

#include <arpa/inet.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "routing/text/bounded_json.h"
#include "routing/text/node_name.h"
#include "routing/topology/port_address.h"

namespace cableway::cli {
namespace {

using PlainJson = nlohmann::json;

constexpr routing::JsonBounds kRecordBounds = {.bytes = std::size_t{16} << 20, .depth = 8, .values = 1'000'000};
constexpr char kExpectedRecord[] = "the addresses.json that cableway plan addresses --output writes";
constexpr int kLowestPlannedMtu = 1280;
constexpr int kHighestPlannedMtu = 65535;

absl::Status record_fault(const std::string& file_name, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat(routing::escaped(file_name), ": ", what, "; expected ", kExpectedRecord));
}

std::string member_text(const PlainJson& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_address_with_bits(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  in_addr address{};
  int bits = 0;
  return parts.size() == 2 && ::inet_pton(AF_INET, parts[0].c_str(), &address) == 1 &&
         absl::SimpleAtoi(parts[1], &bits) && bits >= 1 && bits <= 32 && parts[1] == absl::StrCat(bits);
}

absl::StatusOr<std::vector<PlannedInterface>> ports_of(const PlainJson& host, const std::string& file_name) {
  std::vector<PlannedInterface> ports;
  const auto list = host.find("ports");
  if (list == host.end() || !list->is_array()) return record_fault(file_name, "a host has no ports");
  for (const PlainJson& each : *list) {
    PlannedInterface port{member_text(each, "interface"), member_text(each, "address"), member_text(each, "plug")};
    if (!routing::is_valid_interface_name(port.interface)) {
      return record_fault(file_name, absl::StrCat(routing::in_quotes(port.interface), " is no interface"));
    }
    if (!is_address_with_bits(port.address)) {
      return record_fault(file_name, absl::StrCat(routing::in_quotes(port.address), " is no address with its prefix"));
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

// The host's own entry; null: there is none.
const PlainJson* find_host(const PlainJson& hosts, const std::string& name) {
  for (const PlainJson& each : hosts) {
    if (member_text(each, "node") == name) return &each;
  }
  return nullptr;
}

std::string names_of(const PlainJson& hosts) {
  return absl::StrJoin(hosts, ", ", [](std::string* out, const PlainJson& each) {
    absl::StrAppend(out, routing::escaped(member_text(each, "node")));
  });
}

absl::Status check_record(const PlainJson& record, const std::string& file_name) {
  if (!record.is_object()) return record_fault(file_name, "it is no object");
  const auto hosts = record.find("hosts");
  if (hosts == record.end() || !hosts->is_array()) return record_fault(file_name, "it has no hosts");
  const auto mtu = record.find("mtu");
  const bool in_range = mtu != record.end() && mtu->is_number_unsigned() &&
                        mtu->get<std::uint64_t>() >= kLowestPlannedMtu &&
                        mtu->get<std::uint64_t>() <= kHighestPlannedMtu;
  return in_range ? absl::OkStatus() : record_fault(file_name, "it has no valid mtu");
}

}  // namespace

absl::StatusOr<HostPlan> parse_host_plan(std::string_view record, const std::string& file_name, const std::string& host,
                                         std::string expected, std::optional<TunerSetting> tuner) {
  const absl::StatusOr<PlainJson> parsed =
      routing::parse_bounded_json(record, file_name, kRecordBounds, kExpectedRecord);
  if (!parsed.ok()) return parsed.status();
  if (absl::Status status = check_record(*parsed, file_name); !status.ok()) return status;
  const PlainJson& hosts = parsed->at("hosts");
  const PlainJson* own = find_host(hosts, host);
  if (own == nullptr) own = find_host(hosts, host.substr(0, host.find('.')));
  if (own == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("host ", routing::in_quotes(host), " is not in the plan, which has ",
                                                   names_of(hosts), "; expected --host with one of these"));
  }
  absl::StatusOr<std::vector<PlannedInterface>> ports = ports_of(*own, file_name);
  if (!ports.ok()) return ports.status();
  HostPlan plan{.host = member_text(*own, "node"),
                .mtu = parsed->at("mtu").get<int>(),
                .ports = *std::move(ports),
                .expected = std::move(expected),
                .tuner = tuner};
  if (!routing::is_valid_name(plan.host, routing::kMaxNodeNameBytes)) {
    return record_fault(file_name, absl::StrCat(routing::in_quotes(plan.host), " is no name of a node"));
  }
  if (plan.ports.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("host ", plan.host, " has no cable in the plan"));
  }
  return plan;
}

std::vector<std::string> twin_interfaces(const HostPlan& plan) {
  std::map<std::string, int> functions;
  for (const PlannedInterface& port : plan.ports) ++functions[port.plug];
  std::vector<std::string> twins;
  for (const PlannedInterface& port : plan.ports) {
    if (!port.plug.empty() && functions[port.plug] > 1) twins.push_back(port.interface);
  }
  return twins;
}

}  // namespace cableway::cli
