#include "core/view/shown_view.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/flow/frame.h"
#include "core/view/ports_view.h"
#include "core/view/status_parts.h"
#include "routing/text/absl_view.h"
#include "routing/text/json_schema.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

using Json = nlohmann::ordered_json;

// Ports lose their cables one after the other; older losses say little.
constexpr std::size_t kMaxLosses = 64;

// A listed flow with its numbers and names, but its path and what it waits for; and all of them.
constexpr std::size_t kFlowBytes = 400;
constexpr std::size_t kMaxFlowsBytes = kMaxDocumentBytes - (16U << 10);

// The problems whose texts are of cables and neighbours alone. Other texts may have names of files, users, processes or
// other interfaces, which no filter of words finds: of those the code's fixed meaning is shown.
constexpr EventCode kShownTexts[] = {EventCode::kVersionDiffers,   EventCode::kClusterDiffers, EventCode::kKeyDiffers,
                                     EventCode::kNameTaken,        EventCode::kCableToSelf,    EventCode::kCableRefused,
                                     EventCode::kLargePacketsLost, EventCode::kLinkLocalUsed,  EventCode::kHoldTooLong,
                                     EventCode::kSegmentCrowded,   EventCode::kCableLossy,     EventCode::kCableSilent,
                                     EventCode::kCableLeftOut};

std::string shown_text(const std::string& code, const std::string& text) {
  const EventKind* const kind = find_event_kind(code);
  if (kind == nullptr) return "";
  const bool is_of_cables =
      std::find(std::begin(kShownTexts), std::end(kShownTexts), kind->code) != std::end(kShownTexts);
  return is_of_cables ? text : std::string(kind->meaning);
}

// Why an RDMA device cannot be used, as the node says it, by a part of that, and in words that name no file.
constexpr struct {
  std::string_view part;
  std::string_view words;
} kRdmaTroubles[] = {{"is on InfiniBand", "its RDMA device is on InfiniBand"},
                     {"only one of RoCE v1", "its RDMA device has only one of RoCE v1 and v2"},
                     {"has no RoCE v2 GID", "its RDMA device has no RoCE v2 GID"},
                     {"is not active", "its RDMA device is not active"},
                     {"ib_uverbs", "its host has no ib_uverbs"},
                     {"Permission denied", "Permission denied to use its RDMA device"},
                     {"a container needs", "a container needs its RDMA devices passed on"},
                     {"rdma-core", "its host has no rdma-core"},
                     {"ibverbs-providers", "its host has no ibverbs-providers"}};

std::string shown_trouble(const std::string& trouble) {
  for (const auto& [part, words] : kRdmaTroubles) {
    if (trouble.find(part) != std::string::npos) return std::string(words);
  }
  return "its RDMA device cannot be used: cableway ports there says why";
}

void take(const Json& from, std::initializer_list<const char*> members, Json& into) {
  for (const char* member : members) into[member] = from.at(member);
}

// The members that all have.
Json head(const ViewSources& from) {
  const auto uptime = std::chrono::duration_cast<std::chrono::milliseconds>(from.node.now() - from.run.started);
  return {{routing::kSchemaMember, routing::kJsonSchema},
          {"node", from.node.identity().name},
          {"cluster", from.node.identity().cluster},
          {"version", from.run.version},
          {"uptime_ms", uptime.count()}};
}

Json shown_problems(const ViewSources& from) {
  Json problems = problems_json(from.node, from.problems(), from.run);
  for (Json& problem : problems) {
    problem["text"] = shown_text(problem.at("code").get<std::string>(), problem.at("text").get<std::string>());
  }
  return problems;
}

// The other members have the same meaning as in the status for the node's own processes.
Json status(const ViewSources& from) {
  Json shown = head(from);
  const auto& all = from.node.neighbours().all();
  std::set<std::string> neighbours;
  for (const auto& [key, neighbour] : all) {
    if (neighbour.up) neighbours.insert(neighbour.name);
  }
  shown["draining"] = from.node.draining();
  shown["draining_cables"] = from.node.draining_cables();
  shown["nodes"] = from.node.flooding().database().size();
  shown["cables_up"] = std::count_if(all.begin(), all.end(), [](const auto& each) { return each.second.up; });
  shown["neighbours"] = neighbours;
  shown["has_key"] = !from.keys().empty();
  shown["problems"] = shown_problems(from);
  shown["own"] = own_flows_json(from.flow_counts());
  const RelayStatus relay = from.relay_counts();
  shown["relayed"] = relayed_json(relay);
  shown["relay_memory"] = relay_memory_json(relay.memory);
  shown["rdma_memory"] = rdma_memory_json(relay.rdma_memory);
  std::set<std::string> ports;
  for (const PortFacts& port : from.node.neighbours().ports()) ports.insert(port.interface);
  add_sum_of_port_bytes(from.port_bytes, ports, shown);
  return shown;
}

// Why the port's hops use what they use.
std::string shown_reason(const Json& port) {
  std::string why = port.at("transport_reason").get<std::string>();
  if (port.at("rdma_trouble").is_null() || port.at("transport") == "rdma" || why == "CABLEWAY_TRANSPORT=tcp")
    return why;
  const std::string wanted =
      port.at("transport") == "refused" && port.at("rdma_device").is_null() ? "CABLEWAY_TRANSPORT is verbs: " : "";
  return absl::StrCat(wanted, shown_trouble(port.at("rdma_trouble").get<std::string>()));
}

// Numbers, and which errors there were.
Json shown_control(const Json& control) {
  if (control.is_null()) return nullptr;
  Json shown = Json::object();
  take(control, {"sent", "received", "oversized", "foreign", "own", "ttl_refused", "send_errors"}, shown);
  shown["last_error"] = control.at("last_error").is_null() ? Json() : Json("cableway ports there has it");
  const std::string_view not_open = kind_of(EventCode::kControlSocketFailed).meaning;
  shown["not_open"] = std::vector<std::string>(control.at("not_open").size(), std::string(not_open));
  return shown;
}

Json shown_port(const Json& port) {
  Json shown = Json::object();
  take(port,
       {"interface", "addresses", "mtu", "rate_mbps", "link_mbps", "carrier", "rdma_device", "rdma_usable", "gid_index",
        "roce_version", "rdma_mtu"},
       shown);
  const Json& trouble = port.at("rdma_trouble");
  shown["rdma_trouble"] = trouble.is_null() ? Json() : Json(shown_trouble(trouble.get<std::string>()));
  take(port, {"transport"}, shown);
  shown["transport_reason"] = shown_reason(port);
  take(port, {"plug", "root", "root_mbps", "neighbours"}, shown);
  shown["control"] = shown_control(port.at("control"));
  return shown;
}

Json shown_ports(const ViewSources& from) {
  const Json own = ports_json(from.node, from.transport, from.control());
  Json ports = Json::array();
  for (const Json& each : own) ports.push_back(shown_port(each));
  add_port_bytes(from.port_bytes, ports);
  return ports;
}

Json ports(const ViewSources& from) {
  Json shown = head(from);
  shown["ports"] = shown_ports(from);
  return shown;
}

// Without what takes most room in the node's own view: the circuits of each flow, and why a transport was chosen.
Json shown_flow(const FlowStatus& each) {
  const Json own = flow_facts_json(each);
  Json shown = Json::object();
  take(own,
       {"flow", "node", "sends", "path", "port", "transport", "open_ms", "bytes", "mbps", "waits", "reroutes",
        "pause_ms"},
       shown);
  shown["circuits"] = each.counts.circuits.size();
  return shown;
}

// As many flows as fit the document, so that the others are shown where a node has very many.
Json flows(const ViewSources& from) {
  const FlowsStatus flows = from.flows();
  Json shown = head(from);
  shown["own"] = own_flows_json(flows);
  shown["relayed"] = relayed_json(from.relay_counts());
  shown["flows"] = Json::array();
  std::size_t bytes = 0;
  for (const FlowStatus& each : flows.listed) {
    // Texts may be escaped.
    bytes += kFlowBytes + each.flow.path.size() + 2 * each.waits.size();
    if (bytes > kMaxFlowsBytes) break;
    shown["flows"].push_back(shown_flow(each));
  }
  shown["flows_left_out"] = flows.open - std::min<std::uint64_t>(flows.open, shown["flows"].size());
  return shown;
}

// By port: the other end of the cable that the node has lost, or whose node has left, and that is not up again.
Json lost_cables(const EventLog& log) {
  Json lost = Json::object();
  for (const Event& event : log.events()) {
    if (event.code != EventCode::kCableLost && event.code != EventCode::kCableUp &&
        event.code != EventCode::kNeighbourLeft) {
      continue;
    }
    const auto field = [&](std::string_view key) {
      const auto found = std::find_if(event.fields.begin(), event.fields.end(),
                                      [&](const EventField& each) { return each.key == key; });
      return found == event.fields.end() ? std::string() : found->value;
    };
    if (event.code == EventCode::kCableUp) {
      lost.erase(field("port"));
    } else if (lost.size() < kMaxLosses || lost.contains(field("port"))) {
      lost[field("port")] = {{"node", field("neighbour")}, {"interface", field("neighbour_port")}};
    }
  }
  return lost;
}

Json doctor(const ViewSources& from) {
  Json shown = head(from);
  shown["draining"] = from.node.draining();
  shown["draining_cables"] = from.node.draining_cables();
  shown["has_key"] = !from.keys().empty();
  shown["problems"] = shown_problems(from);
  shown["lost_cables"] = lost_cables(from.node.events());
  shown["ports"] = shown_ports(from);
  return shown;
}

struct ShownView {
  std::string_view name;
  Json (*make)(const ViewSources& from);
};

constexpr ShownView kShown[] = {{"status", status}, {"ports", ports}, {"flows", flows}, {"doctor", doctor}};

}  // namespace

absl::StatusOr<std::string> shown_view(std::string_view name, const ViewSources& sources) {
  std::vector<std::string_view> names;
  for (const ShownView& view : kShown) {
    if (view.name == name) return view.make(sources).dump(-1, ' ', false, Json::error_handler_t::replace);
    names.push_back(view.name);
  }
  return absl::NotFoundError(absl::StrCat("node ", sources.node.identity().name, " shows no view ",
                                          routing::in_quotes(name), routing::did_you_mean(name, names)));
}

}  // namespace cableway
