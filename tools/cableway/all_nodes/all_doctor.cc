#include "tools/cableway/all_nodes/all_doctor.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/json_schema.h"
#include "routing/text/node_name.h"
#include "tools/cableway/all_nodes/cable_end.h"
#include "tools/cableway/doctor/doctor_ports.h"
#include "tools/cableway/doctor/doctor_view.h"

namespace cableway::cli {
namespace {

constexpr char kPort[] = "port ";
constexpr std::size_t kMostNamed = 4;

std::string cable_text(const CableEnd& one, const CableEnd& other) {
  const bool in_order = routing::natural_less(one.node, other.node);
  const CableEnd& a = in_order ? one : other;
  const CableEnd& b = in_order ? other : one;
  return absl::StrCat("cable ", cable_end_text(a), " to ", cable_end_text(b));
}

// A node's own text of a problem contains the advice; the fixed words that it shows of others do not.
std::string advice_for(const std::string& code, const std::string& text) {
  const EventKind* const kind = find_event_kind(code);
  return kind != nullptr && kind->meaning == text ? advice_of(kind->code) : "";
}

class ClusterExamination {
 public:
  ClusterExamination(const NodeDocuments& documents, const Settings& settings) : settings_(settings) {
    for (const MissingNode& each : documents.missing) missing_.insert(each.node);
  }

  // The findings of one node; throws Json::exception before any of them is added.
  void add(const NodeDocument& node) {
    std::vector<ClusterFinding> found = problems_of(node);
    const KnownCauses causes(node.document.at("problems"));
    for (Finding& finding : examine_ports(node.document.at("ports"), settings_, {}, causes)) {
      if (finding.severity == Severity::kOk) continue;
      const bool is_port = absl::StartsWith(finding.about, kPort);
      const std::string interface = is_port ? finding.about.substr(sizeof kPort - 1) : "";
      if (follows_from_missing(node, finding.code, interface)) continue;
      found.push_back(
          {finding.severity, finding.code, {about(node, interface)}, finding.what, finding.advice, {node.node}});
    }
    for (ClusterFinding& each : found) merge(std::move(each));
  }

  void add(const MissingNode& node) {
    const bool runs = node.cause == "other version" || node.cause == "no room";
    merge({runs ? Severity::kWarning : Severity::kError,
           std::string(name_of(FindingCode::kNodeNotAnswering)),
           {absl::StrCat("node ", node.node)},
           absl::StrCat(node.cause, ": ", node.what),
           node.advice,
           {}});
  }

  void add_unheard(std::size_t nodes) {
    merge({Severity::kError,
           std::string(name_of(FindingCode::kNodeNotAnswering)),
           {absl::StrCat(nodes, " more nodes")},
           "nothing had come of them when this command's time was over",
           "ask again, or see the log of the cablewayd here",
           {}});
  }

  std::vector<ClusterFinding> findings() {
    std::vector<ClusterFinding> all;
    for (auto& [key, finding] : findings_) all.push_back(std::move(finding));
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.severity > b.severity; });
    return all;
  }

 private:
  std::vector<ClusterFinding> problems_of(const NodeDocument& node) const {
    std::vector<ClusterFinding> found;
    const KnownCauses causes(node.document.at("problems"));
    for (const Json& problem : node.document.at("problems")) {
      const std::string code = text(problem, "code");
      if (causes.follows(code)) continue;
      found.push_back({grade_of(code),
                       code,
                       {about(node, text(problem, "interface"))},
                       text(problem, "text"),
                       advice_for(code, text(problem, "text")),
                       {node.node}});
    }
    const auto of_code = [&](EventCode code, std::string about) {
      found.push_back({grade_of(code),
                       std::string(name_of(code)),
                       {std::move(about)},
                       meaning_of(code),
                       advice_of(code),
                       {node.node}});
    };
    if (!node.document.at("has_key").get<bool>()) of_code(EventCode::kKeyMissing, absl::StrCat("node ", node.node));
    if (node.document.at("draining").get<bool>()) of_code(EventCode::kDraining, absl::StrCat("node ", node.node));
    for (const Json& cable : node.document.at("draining_cables")) {
      of_code(EventCode::kCableDraining, absl::StrCat("cable ", cable.get<std::string>()));
    }
    return found;
  }

  static std::string about(const NodeDocument& node, const std::string& interface) {
    if (interface.empty()) return absl::StrCat("node ", node.node);
    const std::optional<CableEnd> other = other_end(node.document, interface);
    if (!other) return absl::StrCat("node ", node.node, " port ", interface);
    return cable_text({node.node, interface}, *other);
  }

  // A node that does not answer is a finding itself.
  bool follows_from_missing(const NodeDocument& node, const std::string& code, const std::string& interface) const {
    if (interface.empty() || code != name_of(FindingCode::kNeighbourMissing)) return false;
    const std::optional<CableEnd> other = other_end(node.document, interface);
    return other && missing_.contains(other->node);
  }

  // One cause: of one cable, or with the same words at several nodes and ports.
  void merge(ClusterFinding finding) {
    const bool is_cable = absl::StartsWith(*finding.about.begin(), "cable ");
    const std::string& words = is_cable && finding.severity > Severity::kInfo ? *finding.about.begin() : finding.what;
    const auto [known, is_new] = findings_.try_emplace({finding.code, words}, finding);
    if (is_new) return;
    known->second.about.insert(finding.about.begin(), finding.about.end());
    known->second.nodes.insert(finding.nodes.begin(), finding.nodes.end());
    known->second.severity = std::max(known->second.severity, finding.severity);
  }

  const Settings& settings_;
  std::set<std::string> missing_;
  std::map<std::pair<std::string, std::string>, ClusterFinding> findings_;
};

std::string about_text(const std::set<std::string>& about) {
  if (about.size() <= kMostNamed) return absl::StrJoin(about, ", ");
  const auto last = std::next(about.begin(), kMostNamed);
  return absl::StrCat(absl::StrJoin(about.begin(), last, ", "), " and ", about.size() - kMostNamed, " more");
}

std::string counted(const std::vector<ClusterFinding>& findings, Severity severity) {
  const auto count = std::count_if(findings.begin(), findings.end(),
                                   [&](const ClusterFinding& each) { return each.severity == severity; });
  return absl::StrCat(count, " ", std::string(name_of(severity)), count == 1 ? "" : "s");
}

}  // namespace

std::vector<ClusterFinding> examine_all_nodes(NodeDocuments& documents, const Settings& settings) {
  ClusterExamination examination(documents, settings);
  read_each(documents, [&](const NodeDocument& each) { examination.add(each); });
  for (const MissingNode& each : documents.missing) examination.add(each);
  if (documents.unheard > 0) examination.add_unheard(documents.unheard);
  return examination.findings();
}

Severity worst_of_all(const std::vector<ClusterFinding>& findings) {
  Severity worst = Severity::kOk;
  for (const ClusterFinding& each : findings) worst = std::max(worst, each.severity);
  return worst;
}

std::string all_doctor_text(const std::vector<ClusterFinding>& findings, const NodeDocuments& documents,
                            const Look& look) {
  std::string lines;
  for (const ClusterFinding& each : findings) {
    lines += finding_lines({each.severity, each.code, about_text(each.about), each.what, each.advice}, look);
  }
  const std::size_t answered = documents.shown.size();
  return absl::StrCat(lines, lines.empty() ? "" : "\n", answered, " of ",
                      answered + documents.missing.size() + documents.unheard,
                      " nodes have answered: ", counted(findings, Severity::kError), ", ",
                      counted(findings, Severity::kWarning), ", ", counted(findings, Severity::kInfo),
                      "\ncableway doctor on a node also examines its host and measures its cables\n");
}

Json all_doctor_json(const std::vector<ClusterFinding>& findings, const NodeDocuments& documents) {
  Json list = Json::array();
  for (const ClusterFinding& each : findings) {
    list.push_back({{"severity", name_of(each.severity)},
                    {"code", each.code},
                    {"about", each.about},
                    {"what", each.what},
                    {"advice", each.advice.empty() ? Json(nullptr) : Json(each.advice)},
                    {"nodes", each.nodes}});
  }
  return {{routing::kSchemaMember, routing::kJsonSchema},
          {"worst", name_of(worst_of_all(findings))},
          {"findings", list},
          {"unheard", documents.unheard},
          {"nodes", documents_json(documents).at("nodes")}};
}

}  // namespace cableway::cli
