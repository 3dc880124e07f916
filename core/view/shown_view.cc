#include "core/view/shown_view.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/view/ports_view.h"
#include "core/view/status_view.h"
#include "routing/text/absl_view.h"
#include "routing/text/json_schema.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

using Json = nlohmann::ordered_json;

// Ports lose their cables one after the other; older losses say little.
constexpr std::size_t kMaxLosses = 64;

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
Json head(const ViewSources& from, const ShownFacts& facts) {
  return {{routing::kSchemaMember, routing::kJsonSchema},
          {"node", from.node.identity().name},
          {"cluster", from.node.identity().cluster},
          {"version", facts.version},
          {"uptime_ms", facts.uptime_ms}};
}

// Of the view for its own processes, whose members have the same meaning.
Json own_status(const ViewSources& from, FlowsStatus flows) {
  return Json::parse(status_view(from.node, from.relay(), flows, from.sessions(), from.problems()));
}

FlowsStatus without_list(FlowsStatus flows) {
  flows.listed.clear();
  return flows;
}

Json shown_problems(const Json& status) {
  Json problems = status.at("problems");
  for (Json& problem : problems) {
    problem["text"] = shown_text(problem.at("code").get<std::string>(), problem.at("text").get<std::string>());
  }
  return problems;
}

Json status(const ViewSources& from, const ShownFacts& facts) {
  const Json own = own_status(from, without_list(from.flows()));
  Json shown = head(from, facts);
  take(own, {"draining", "draining_cables", "nodes", "cables_up"}, shown);
  std::vector<std::string> neighbours;
  for (const auto& [key, neighbour] : from.node.neighbours().all()) {
    if (neighbour.up) neighbours.push_back(neighbour.name);
  }
  std::sort(neighbours.begin(), neighbours.end());
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  shown["neighbours"] = neighbours;
  shown["has_key"] = !from.keys().empty();
  shown["problems"] = shown_problems(own);
  take(own, {"own", "relayed", "relay_memory", "rdma_memory"}, shown);
  return shown;
}

// Why the port's hops use what they use.
std::string shown_reason(const Json& port) {
  const std::string why = port.at("transport_reason").get<std::string>();
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

Json shown_ports(const ViewSources& from, const ShownFacts& facts) {
  const Json own = Json::parse(ports_view(from.node, from.transport, from.rejected(), from.control())).at("ports");
  const std::map<std::string, PortBytes> bytes =
      facts.port_bytes ? facts.port_bytes() : std::map<std::string, PortBytes>();
  Json ports = Json::array();
  for (const Json& each : own) {
    Json& port = ports.emplace_back(shown_port(each));
    const auto carried = bytes.find(port.at("interface").get<std::string>());
    port["received_bytes"] = carried == bytes.end() ? Json() : Json(carried->second.received);
    port["sent_bytes"] = carried == bytes.end() ? Json() : Json(carried->second.sent);
  }
  return ports;
}

Json ports(const ViewSources& from, const ShownFacts& facts) {
  Json shown = head(from, facts);
  shown["ports"] = shown_ports(from, facts);
  return shown;
}

// Without what takes most room in the node's own view: the circuits of each flow, and why a transport was chosen.
Json flow(const Json& own) {
  Json shown = Json::object();
  take(own,
       {"flow", "node", "sends", "path", "port", "transport", "open_ms", "bytes", "mbps", "waits", "reroutes",
        "pause_ms"},
       shown);
  shown["circuits"] = own.at("circuits").size();
  return shown;
}

Json flows(const ViewSources& from, const ShownFacts& facts) {
  const Json own = own_status(from, from.flows());
  Json shown = head(from, facts);
  take(own, {"own", "relayed"}, shown);
  shown["flows"] = Json::array();
  for (const Json& each : own.at("flows")) shown["flows"].push_back(flow(each));
  shown["circuits"] = Json::array();
  for (const Json& each : own.at("circuits")) {
    shown["circuits"].push_back({{"flow", each.at("flow")},
                                 {"path", each.at("path")},
                                 {"bytes", each.at("bytes")},
                                 {"open_ms", each.at("open_ms")},
                                 {"in", each.at("upstream").at("transport")},
                                 {"out", each.at("downstream").at("transport")}});
  }
  return shown;
}

// The cables that the node has lost and not got back, by its port: their other ends.
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
    if (event.code != EventCode::kCableLost) {
      lost.erase(field("port"));
    } else if (lost.size() < kMaxLosses || lost.contains(field("port"))) {
      lost[field("port")] = {{"node", field("neighbour")}, {"interface", field("neighbour_port")}};
    }
  }
  return lost;
}

Json doctor(const ViewSources& from, const ShownFacts& facts) {
  const Json own = own_status(from, without_list(from.flows()));
  Json shown = head(from, facts);
  take(own, {"draining", "draining_cables"}, shown);
  shown["has_key"] = !from.keys().empty();
  shown["problems"] = shown_problems(own);
  shown["lost_cables"] = lost_cables(from.node.events());
  shown["ports"] = shown_ports(from, facts);
  return shown;
}

struct ShownView {
  std::string_view name;
  Json (*make)(const ViewSources& from, const ShownFacts& facts);
};

constexpr ShownView kShown[] = {{"status", status}, {"ports", ports}, {"flows", flows}, {"doctor", doctor}};

}  // namespace

absl::StatusOr<std::string> shown_view(std::string_view name, const ViewSources& sources, const ShownFacts& facts) {
  std::vector<std::string_view> names;
  for (const ShownView& view : kShown) {
    if (view.name == name) return view.make(sources, facts).dump(-1, ' ', false, Json::error_handler_t::replace);
    names.push_back(view.name);
  }
  return absl::NotFoundError(absl::StrCat("node ", sources.node.identity().name, " shows no view ",
                                          routing::in_quotes(name), routing::did_you_mean(name, names)));
}

}  // namespace cableway
