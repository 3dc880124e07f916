// Feeds answers of nodes to the views of all nodes. Each node is in a view or missing from it, for a reason; what is
// shown is safe for a terminal, and JSON for scripts.
//
// The input is a list of answers, separated by lines with a "%". The first line of each is the node's name, a space and
// a digit, why it has not answered (NoView), 0 for "it has"; the rest is its document, or the error.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/printable.h"
#include "core/session/cluster_view_message.h"
#include "core/settings/settings.h"
#include "tests/fuzz/require.h"
#include "tools/cableway/all_nodes/all_doctor.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"

namespace {

using namespace cableway::cli;
using cableway::NodeAnswer;
using cableway::NoView;
using cableway::fuzz::require;

constexpr std::size_t kMostNodes = 64;
constexpr std::size_t kMostName = 63;

NodeAnswer answer_of(std::string_view part) {
  const std::string_view head = part.substr(0, part.find('\n'));
  const std::string_view rest = part.substr(head.size());
  NodeAnswer answer;
  // The node that asks has such names only, each once.
  answer.node = cableway::printable(head.substr(0, head.find(' ')), kMostName);
  const char why = head.empty() ? '0' : head.back();
  if (why >= '0' && why < '0' + static_cast<char>(cableway::kNoViewKinds)) answer.why = static_cast<NoView>(why - '0');
  (answer.why == NoView::kNone ? answer.document : answer.error) = rest;
  return answer;
}

std::vector<NodeAnswer> answers_in(std::string_view input) {
  constexpr std::string_view kBetween = "\n%\n";
  std::vector<NodeAnswer> answers;
  std::set<std::string> names;
  while (!input.empty() && answers.size() < kMostNodes) {
    const std::string_view part = input.substr(0, input.find(kBetween));
    input.remove_prefix(part.size() < input.size() ? part.size() + kBetween.size() : part.size());
    NodeAnswer answer = answer_of(part);
    if (names.insert(answer.node).second) answers.push_back(std::move(answer));
  }
  return answers;
}

void require_each_node_once(const NodeDocuments& documents, const std::vector<NodeAnswer>& answers) {
  std::multiset<std::string> asked;
  for (const NodeAnswer& each : answers) asked.insert(each.node);
  std::multiset<std::string> found;
  for (const NodeDocument& each : documents.shown) found.insert(each.node);
  for (const MissingNode& each : documents.missing) {
    found.insert(each.node);
    require(!each.cause.empty() && !each.advice.empty(), "a node is missing without a cause or advice");
  }
  require(found == asked, "a node is lost, or there twice");
}

void require_printable(const std::string& text) {
  for (const char c : text) require(c == '\n' || (c >= ' ' && c <= '~'), "a character is not printable");
}

// With an error's member for each node that is missing.
void require_json(const Json& json, const std::vector<NodeAnswer>& answers) {
  const std::string text = json.dump();
  require_printable(text);
  require(nlohmann::json::accept(text), "the output is not JSON");
  for (const NodeAnswer& each : answers) require(json.at("nodes").contains(each.node), "JSON lacks a node");
}

// The view takes out those that it cannot read.
template <typename View>
void require_text(NodeDocuments documents, const std::vector<NodeAnswer>& answers, View view) {
  require_printable(view(documents));
  require_each_node_once(documents, answers);
}

void require_doctor(NodeDocuments documents, const std::vector<NodeAnswer>& answers) {
  static const cableway::Settings kSettings;
  const std::vector<ClusterFinding> findings = examine_all_nodes(documents, kSettings);
  require_each_node_once(documents, answers);
  for (const MissingNode& each : documents.missing) {
    bool is_found = false;
    for (const ClusterFinding& finding : findings) is_found |= finding.about.contains("node " + each.node);
    require(is_found, "a node is missing without a finding");
  }
  require_printable(all_doctor_text(findings, documents));
  require_json(all_doctor_json(findings, documents), answers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto answers = answers_in(std::string_view(reinterpret_cast<const char*>(data), size));
  const NodeDocuments read = read_documents(answers, 1);
  require_each_node_once(read, answers);
  require_text(read, answers, [](NodeDocuments& now) { return all_status_text(now, nullptr); });
  require_text(read, answers, [&](NodeDocuments& now) { return all_status_text(now, &read); });
  require_text(read, answers, [](NodeDocuments& now) { return all_flows_text(now); });
  require_text(read, answers, [](NodeDocuments& now) { return all_ports_text(now, nullptr); });
  require_text(read, answers, [&](NodeDocuments& now) { return all_ports_text(now, &read); });
  require_doctor(read, answers);
  require_json(all_status_json(read), answers);
  require_json(all_ports_json(read), answers);
  require_json(all_flows_json(read), answers);
  return 0;
}
