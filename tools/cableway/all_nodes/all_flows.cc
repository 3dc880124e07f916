#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"
#include "tools/cableway/node/answer_text.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

// One direction of a connection between two nodes. Two flows may have one number, as it is random.
struct FlowKey {
  std::string flow;
  std::string from;
  std::string to;
  friend auto operator<=>(const FlowKey&, const FlowKey&) = default;
};

struct ReportedFlow {
  bool by_source = false;
  Json shown;
};

// What one node reports, checked: of each flow once, or as source and destination where it has both.
std::vector<std::pair<FlowKey, ReportedFlow>> reported_by(const NodeDocument& each) {
  std::vector<std::pair<FlowKey, ReportedFlow>> reported;
  for (const Json& flow : each.document.at("flows")) {
    const bool sends = flow.at("sends").get<bool>();
    const std::string peer = text(flow, "node");
    const FlowKey key{text(flow, "flow"), sends ? each.node : peer, sends ? peer : each.node};
    Json shown = {{"flow", key.flow}, {"from", key.from}, {"to", key.to}, {"reported_by", Json::array({each.node})}};
    for (const char* member :
         {"path", "port", "transport", "open_ms", "bytes", "mbps", "waits", "reroutes", "pause_ms", "circuits"}) {
      shown[member] = flow.at(member);
    }
    // Checks the types that the table needs.
    static_cast<void>(text(flow, "path") + text(flow, "transport"));
    static_cast<void>(number(flow, "open_ms") + number(flow, "bytes") + number(flow, "circuits"));
    if (!flow.at("mbps").is_null()) static_cast<void>(flow.at("mbps").get<double>());
    if (!flow.at("reroutes").is_null()) static_cast<void>(number(flow, "reroutes"));
    if (!flow.at("waits").is_null()) static_cast<void>(text(flow, "waits"));
    reported.emplace_back(key, ReportedFlow{sends, std::move(shown)});
  }
  static_cast<void>(number(each.document.at("relayed"), "circuits_open"));
  static_cast<void>(number(each.document.at("relayed"), "bytes"));
  static_cast<void>(number(each.document, "flows_left_out"));
  return reported;
}

// Both ends report a flow. The source knows more of it.
void merge(const std::string& node, FlowKey key, ReportedFlow flow, std::map<FlowKey, Json>& merged) {
  const auto [known, is_new] = merged.try_emplace(std::move(key), std::move(flow.shown));
  if (is_new) return;
  Json reported_by = known->second.at("reported_by");
  reported_by.push_back(node);
  if (flow.by_source) known->second = std::move(flow.shown);
  known->second["reported_by"] = std::move(reported_by);
}

std::map<FlowKey, Json> merge_all(NodeDocuments& documents) {
  std::map<FlowKey, Json> merged;
  read_each(documents, [&](const NodeDocument& each) {
    // A document is read as a whole, or not at all.
    for (auto& [key, flow] : reported_by(each)) merge(each.node, key, std::move(flow), merged);
  });
  return merged;
}

std::uint64_t left_out(const NodeDocuments& documents) {
  std::uint64_t count = 0;
  for (const NodeDocument& each : documents.shown) count += number(each.document, "flows_left_out");
  return count;
}

std::string flows_table(const std::map<FlowKey, Json>& flows, const Look& look) {
  using Align = TextTable::Align;
  if (flows.empty()) return "";
  TextTable table({{"flow"},
                   {"path, or what it waits for"},
                   {"open for", Align::kRight},
                   {"payload", Align::kRight},
                   {"Mbit/s", Align::kRight},
                   {"circuits", Align::kRight},
                   {"reroutes", Align::kRight},
                   {"first hop"}});
  for (const auto& [key, flow] : flows) {
    const Json& reroutes = flow.at("reroutes");
    table.add_row({key.flow,
                   flow.at("waits").is_null() ? text(flow, "path") : "waits: " + look.prose(text(flow, "waits")),
                   age_text(number(flow, "open_ms")), bytes_text(number(flow, "bytes")), mbps_or_dash(flow),
                   absl::StrCat(number(flow, "circuits")),
                   reroutes.is_null() ? "-" : absl::StrCat(whole_number(reroutes)), text(flow, "transport")});
  }
  return absl::StrCat("\n", table.text());
}

std::string relays_table(const NodeDocuments& documents) {
  using Align = TextTable::Align;
  TextTable table({{"relay"}, {"circuits", Align::kRight}, {"relayed so far", Align::kRight}});
  bool any = false;
  for (const NodeDocument& each : documents.shown) {
    const Json& relayed = each.document.at("relayed");
    if (number(relayed, "circuits_open") == 0) continue;
    any = true;
    table.add_row({each.node, absl::StrCat(number(relayed, "circuits_open")), bytes_text(number(relayed, "bytes"))});
  }
  return any ? absl::StrCat("\n", table.text()) : "";
}

}  // namespace

std::string all_flows_text(NodeDocuments& documents, const Look& look) {
  const std::map<FlowKey, Json> flows = merge_all(documents);
  const std::uint64_t without = left_out(documents);
  return absl::StrCat("flows between the processes of ", documents.shown.size(), " nodes: ", flows.size(), " open\n",
                      without == 0 ? "" : absl::StrCat("without ", without, " of nodes that have very many\n"),
                      flows_table(flows, look), relays_table(documents), missing_text(documents, look));
}

Json all_flows_json(NodeDocuments documents) {
  const std::map<FlowKey, Json> flows = merge_all(documents);
  Json json = documents_json(documents);
  json["flows"] = Json::array();
  for (const auto& [key, flow] : flows) json["flows"].push_back(flow);
  return json;
}

}  // namespace cableway::cli
