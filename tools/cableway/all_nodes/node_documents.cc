#include "tools/cableway/all_nodes/node_documents.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flow/frame.h"
#include "core/printable.h"
#include "routing/text/bounded_json.h"
#include "routing/text/json_schema.h"
#include "routing/text/node_name.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

constexpr routing::JsonBounds kBounds{.bytes = kMaxDocumentBytes, .depth = 12, .values = 60'000};
constexpr std::size_t kMaxWhat = 300;

struct Cause {
  const char* name;
  const char* advice;
};

Cause cause_of(NoView why) {
  switch (why) {
    case NoView::kNone:
      break;
    case NoView::kNoPath:
      return {"no path", "see its cables and its neighbours' here with cableway topology; is cablewayd running there?"};
    case NoView::kTimedOut:
      return {"timed out", "it may be stopped or overloaded: see its log, or restart its cablewayd"};
    case NoView::kOtherVersion:
      return {"other version", "install this version of Cableway there, and restart cablewayd"};
    case NoView::kBusy:
      return {"no room", "it answers other requests now: try again in a moment"};
    case NoView::kRefused:
      return {"refused", "see the log of its cablewayd, and that of the node named"};
  }
  return {"unreadable", "install the same version of Cableway there; if it has it, do not trust that node"};
}

// Texts become safe to show.
Json shown(const nlohmann::json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_array()) {
    Json list = Json::array();
    for (const nlohmann::json& each : value) list.push_back(shown(each));
    return list;
  }
  if (!value.is_object()) return Json::parse(value.dump());
  Json object = Json::object();
  for (const auto& [name, member] : value.items()) object[printable(name)] = shown(member);
  return object;
}

bool by_name(const std::string& left, const std::string& right) {
  return routing::natural_less(left, right);
}

// "" if it can be used.
std::string fault_of(const Json& document, const std::string& node) {
  if (!document.is_object()) return "it is not a JSON object";
  if (std::string fault = routing::schema_fault(document); !fault.empty()) return fault;
  const auto name = document.find("node");
  if (name == document.end() || !name->is_string()) return "it names no node";
  if (*name != node) return absl::StrCat("it is of another node, ", routing::in_quotes(name->get<std::string>()));
  return "";
}

}  // namespace

MissingNode unreadable(const std::string& node, const std::string& why) {
  return {node, "unreadable", printable(absl::StrCat("its answer cannot be read: ", why), kMaxWhat),
          cause_of(NoView::kNone).advice};
}

NodeDocuments read_documents(const std::vector<NodeAnswer>& answers) {
  NodeDocuments read;
  for (const NodeAnswer& answer : answers) {
    if (answer.why != NoView::kNone) {
      const Cause cause = cause_of(answer.why);
      read.missing.push_back({answer.node, cause.name, printable(answer.error), cause.advice});
      continue;
    }
    const auto json = routing::parse_bounded_json(answer.document, "answer", kBounds, "a node's view");
    if (!json.ok()) {
      read.missing.push_back(unreadable(answer.node, std::string(json.status().message())));
      continue;
    }
    Json document = shown(*json);
    if (const std::string fault = fault_of(document, answer.node); !fault.empty()) {
      read.missing.push_back(unreadable(answer.node, fault));
      continue;
    }
    read.shown.push_back({answer.node, std::move(document)});
  }
  std::sort(read.shown.begin(), read.shown.end(), [](const auto& a, const auto& b) { return by_name(a.node, b.node); });
  std::sort(read.missing.begin(), read.missing.end(),
            [](const auto& a, const auto& b) { return by_name(a.node, b.node); });
  return read;
}

std::string missing_text(const std::vector<MissingNode>& missing) {
  if (missing.empty()) return "";
  std::string lines =
      absl::StrCat("\n", missing.size(), missing.size() == 1 ? " node has" : " nodes have", " not answered\n");
  for (const MissingNode& each : missing) {
    absl::StrAppend(&lines, "  ", each.node, ": ", each.cause, ": ", each.what, "\n", "    -> ", each.advice, "\n");
  }
  return lines;
}

Json documents_json(const NodeDocuments& documents) {
  Json nodes = Json::object();
  for (const NodeDocument& each : documents.shown) nodes[each.node] = each.document;
  for (const MissingNode& each : documents.missing) {
    nodes[each.node] = {{"error", {{"cause", each.cause}, {"what", each.what}, {"advice", each.advice}}}};
  }
  return {{routing::kSchemaMember, routing::kJsonSchema}, {"nodes", nodes}};
}

}  // namespace cableway::cli
