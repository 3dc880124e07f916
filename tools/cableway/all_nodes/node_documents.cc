#include "tools/cableway/all_nodes/node_documents.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flow/frame.h"
#include "core/printable.h"
#include "routing/text/bounded_json.h"
#include "routing/text/json_schema.h"
#include "routing/text/node_name.h"

namespace cableway::cli {
namespace {

constexpr routing::JsonBounds kBounds{.bytes = kMaxDocumentBytes, .depth = 12, .values = 30'000};
// Of one object: they are looked up one after the other.
constexpr std::size_t kMaxMembers = 64;
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
      return {kNoPathCause,
              "see its cables and its neighbours' here with cableway topology; is cablewayd running there?"};
    case NoView::kTimedOut:
      return {kTimedOutCause, "it may be stopped or overloaded: see its log, or restart its cablewayd"};
    case NoView::kOtherVersion:
      return {kOtherVersionCause, "install this version of Cableway on the node named, and restart cablewayd"};
    case NoView::kBusy:
      return {kNoRoomCause, "it answers other requests now: try again in a moment"};
    case NoView::kRefused:
      return {kRefusedCause, "see the log of its cablewayd, and that of the node named"};
  }
  return {"unreadable",
          "install the same version of Cableway there; if it has it, do not trust that node, or one on the way"};
}

bool has_large_object(const nlohmann::json& value) {
  if (value.is_object() && value.size() > kMaxMembers) return true;
  return value.is_structured() && std::any_of(value.begin(), value.end(), has_large_object);
}

// Texts become safe to show.
Json shown(const nlohmann::json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_array()) {
    Json list = Json::array();
    for (const nlohmann::json& each : value) list.push_back(shown(each));
    return list;
  }
  if (!value.is_object()) return Json(value);
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

NodeDocuments read_documents(std::vector<NodeAnswer> answers, std::size_t unheard) {
  NodeDocuments read;
  read.unheard = unheard;
  std::size_t bytes = 0;
  for (NodeAnswer& each : answers) {
    const NodeAnswer answer = std::exchange(each, {});  // its text is not needed longer than its turn
    if (answer.why != NoView::kNone) {
      const Cause cause = cause_of(answer.why);
      read.missing.push_back({answer.node, cause.name, printable(answer.error), cause.advice});
      continue;
    }
    bytes += answer.document.size();
    if (bytes > kMaxDocumentsBytes) {
      read.missing.push_back(unreadable(
          answer.node, absl::StrCat("it is too much: all nodes together show at most ", kMaxDocumentsBytes, " bytes")));
      continue;
    }
    if (answer.document.size() > kMaxDocumentBytes) {
      read.missing.push_back(unreadable(answer.node, absl::StrCat("it has ", answer.document.size(),
                                                                  " bytes; expected at most ", kMaxDocumentBytes)));
      continue;
    }
    const auto json = routing::parse_bounded_json(answer.document, "answer", kBounds, "a node's view");
    if (!json.ok()) {
      read.missing.push_back(unreadable(answer.node, std::string(json.status().message())));
      continue;
    }
    if (has_large_object(*json)) {
      read.missing.push_back(
          unreadable(answer.node, absl::StrCat("an object has too many members; expected at most ", kMaxMembers)));
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

std::string missing_text(const NodeDocuments& documents, const Look& look) {
  std::string lines;
  if (const std::size_t count = documents.missing.size(); count > 0) {
    lines = absl::StrCat("\n", count, count == 1 ? " node has" : " nodes have", " not answered\n");
  }
  for (const MissingNode& each : documents.missing) {
    absl::StrAppend(&lines, look.lines("  ", absl::StrCat(each.node, ": ", each.cause, ": ", each.what)),
                    look.lines("    -> ", each.advice));
  }
  if (documents.unheard > 0) {
    const std::string unheard = absl::StrCat(documents.unheard,
                                             " more nodes had not answered when this command's time was over: ask "
                                             "again, or see the log of the cablewayd here");
    absl::StrAppend(&lines, "\n", look.lines("", unheard));
  }
  return lines;
}

Json documents_json(const NodeDocuments& documents) {
  Json nodes = Json::object();
  for (const NodeDocument& each : documents.shown) nodes[each.node] = each.document;
  for (const MissingNode& each : documents.missing) {
    nodes[each.node] = {{"error", {{"cause", each.cause}, {"what", each.what}, {"advice", each.advice}}}};
  }
  return {{routing::kSchemaMember, routing::kJsonSchema}, {"unheard", documents.unheard}, {"nodes", nodes}};
}

}  // namespace cableway::cli
