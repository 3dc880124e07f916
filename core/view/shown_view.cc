#include "core/view/shown_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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

// A text of a problem may name files, as /etc/cableway/key, which are the host's own affair.
std::string without_files(const std::string& text) {
  std::vector<std::string> words = absl::StrSplit(text, ' ');
  for (std::string& word : words) {
    const std::size_t slash = word.find('/');
    const bool is_file =
        slash != std::string::npos && (slash == 0 || word[slash - 1] == '"' || word[slash - 1] == '\'' ||
                                       word[slash - 1] == '=' || word[slash - 1] == '(');
    if (!is_file) continue;
    const std::size_t end = word.find_last_not_of(":,;.\"')");
    word = absl::StrCat(word.substr(0, slash), "(file)", end == std::string::npos ? "" : word.substr(end + 1));
  }
  std::string shown;
  for (const std::string& word : words) absl::StrAppend(&shown, shown.empty() ? "" : " ", word);
  return shown;
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
  for (Json& problem : problems) problem["text"] = without_files(problem.at("text").get<std::string>());
  return problems;
}

void take(const Json& from, std::initializer_list<const char*> members, Json& into) {
  for (const char* member : members) into[member] = from.at(member);
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

Json shown_ports(const ViewSources& from, const ShownFacts& facts) {
  Json ports = Json::parse(ports_view(from.node, from.transport, from.rejected(), from.control())).at("ports");
  const std::map<std::string, PortBytes> bytes =
      facts.port_bytes ? facts.port_bytes() : std::map<std::string, PortBytes>();
  for (Json& port : ports) {
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
