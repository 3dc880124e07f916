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
#include "tools/cableway/all_nodes/cluster_causes.h"
#include "tools/cableway/all_nodes/known_cables.h"
#include "tools/cableway/doctor/doctor_ports.h"
#include "tools/cableway/doctor/finding_lines.h"

namespace cableway::cli {
namespace {

constexpr char kPort[] = "port ";
constexpr std::size_t kMostNamed = 4;

std::string about_text(const std::set<std::string>& about) {
  if (about.size() <= kMostNamed) return absl::StrJoin(about, ", ");
  const auto last = std::next(about.begin(), kMostNamed);
  return absl::StrCat(absl::StrJoin(about.begin(), last, ", "), " and ", about.size() - kMostNamed, " more");
}

std::string cable_text(const CableEnd& one, const CableEnd& other) {
  const bool in_order = routing::natural_less(one.node, other.node);
  const CableEnd& a = in_order ? one : other;
  const CableEnd& b = in_order ? other : one;
  return absl::StrCat("cable ", cable_end_text(a), " to ", cable_end_text(b));
}

// A node's own text of a problem contains the advice. Other nodes get fixed words, without advice and reason.
std::string advice_for(const std::string& code, const std::string& text) {
  constexpr char kFullText[] = "cableway doctor on that node has the full text";
  const EventKind* const kind = find_event_kind(code);
  if (kind == nullptr || kind->meaning != text) return "";
  const std::string advice = advice_of(kind->code);
  return absl::StrCat(advice, advice.empty() ? "" : "; ", kFullText);
}

// What one node reports.
struct Report {
  Finding finding;
  CableEnd here;                       // without an interface: of the node
  std::optional<CableEnd> there = {};  // the other end of the cable
  std::string cable = "";              // its name, where that is what the node tells
  std::string namesake = "";           // the name that two nodes have
};

class ClusterExamination {
 public:
  explicit ClusterExamination(const Settings& settings) : settings_(settings) {}

  // What one node reports; throws Json::exception before any of it is added.
  void add(const NodeDocument& node) {
    std::vector<Report> found = problems_of(node);
    const KnownCauses causes(node.document.at("problems"), node.node);
    for (Finding& finding : examine_ports(node.document.at("ports"), settings_, {}, causes)) {
      if (finding.severity == Severity::kOk) continue;
      const bool is_port = absl::StartsWith(finding.about, kPort);
      const std::string interface = is_port ? finding.about.substr(sizeof kPort - 1) : "";
      const std::optional<CableEnd> there = finding.neighbour_port.empty()
                                                ? end_beyond(node, interface, finding.neighbour)
                                                : CableEnd{finding.neighbour, finding.neighbour_port};
      found.push_back({std::move(finding), {node.node, interface}, there});
    }
    causes_.add(node);
    cables_.add(node);
    for (Report& each : found) {
      if (each.finding.code == name_of(FindingCode::kCableOneWay) && each.there)
        causes_.add_one_way(each.here, *each.there);
      reports_.push_back(std::move(each));
    }
  }

  void add(const MissingNode& node) { missing_.push_back(node); }

  void add_unheard(std::size_t nodes) {
    merge("unheard", {Severity::kError,
                      std::string(name_of(FindingCode::kNodeNotAnswering)),
                      {absl::StrCat(nodes, " more nodes")},
                      "nothing had come of them when this command's time was over",
                      "ask again, or see the log of the cablewayd here",
                      {}});
  }

  // After all nodes.
  std::vector<ClusterFinding> findings() {
    leave_out_explained();
    add_missing();
    for (const Report& each : reports_) add_finding(each);
    join_cut_off();
    join_behind();
    for (const auto& [finding, nodes] : not_asked_) name_not_asked(*finding, nodes);
    std::vector<ClusterFinding> all;
    for (auto& [key, finding] : findings_) all.push_back(std::move(finding));
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.severity > b.severity; });
    return all;
  }

 private:
  static std::optional<CableEnd> end_beyond(const NodeDocument& node, const std::string& interface,
                                            const std::string& neighbour) {
    if (interface.empty()) return std::nullopt;
    return neighbour.empty() ? other_end(node.document, interface) : other_end_at(node.document, interface, neighbour);
  }

  static Report problem_of(const NodeDocument& node, const Json& problem) {
    const std::string code = text(problem, "code");
    const std::string what = text(problem, "text");
    const std::string interface = text(problem, "interface");
    const std::string neighbour = text_or_none(problem, "neighbour");
    // If it names no neighbour, it is about several.
    const bool is_of_segment = code == name_of(EventCode::kSegmentCrowded) && neighbour.empty();
    Report report{{grade_of(code), code, "", what, advice_for(code, what)},
                  {node.node, interface},
                  is_of_segment ? std::nullopt : end_beyond(node, interface, neighbour),
                  text_or_none(problem, "cable")};
    if (code == name_of(EventCode::kNameTaken)) report.namesake = neighbour.empty() ? node.node : neighbour;
    return report;
  }

  static std::vector<Report> problems_of(const NodeDocument& node) {
    std::vector<Report> found;
    const KnownCauses causes(node.document.at("problems"));
    for (const Json& problem : node.document.at("problems")) {
      if (!causes.follows(text(problem, "code"))) found.push_back(problem_of(node, problem));
    }
    const auto of_code = [&](EventCode code, const std::string& cable) {
      const Finding finding{grade_of(code), std::string(name_of(code)), "", meaning_of(code), advice_of(code)};
      found.push_back({finding, {node.node, ""}, {}, cable});
    };
    if (!node.document.at("has_key").get<bool>()) of_code(EventCode::kKeyMissing, "");
    if (node.document.at("draining").get<bool>()) of_code(EventCode::kDraining, "");
    for (const Json& cable : node.document.at("draining_cables")) {
      of_code(EventCode::kCableDraining, cable.get<std::string>());
    }
    return found;
  }

  static std::string about(const Report& report) {
    if (!report.cable.empty()) return absl::StrCat("cable ", report.cable);
    if (report.here.interface.empty()) return absl::StrCat("node ", report.here.node);
    if (!report.there) return absl::StrCat("node ", report.here.node, " port ", report.here.interface);
    return cable_text(report.here, *report.there);
  }

  void leave_out_explained() {
    for (Report& each : reports_) {
      const bool is_of_segment = each.finding.code == name_of(EventCode::kSegmentCrowded);
      if (!each.there && !is_of_segment) each.there = causes_.only_hearer(each.here);
    }
    std::erase_if(reports_,
                  [&](const Report& each) { return causes_.explain(each.finding.code, each.here, each.there); });
    for (const Report& each : reports_) {
      if (is_wrong(each) && !is_silence(each) && each.there) cables_.has_fault(each.here, each.there->node);
    }
  }

  static bool is_wrong(const Report& report) { return report.finding.severity > Severity::kInfo; }
  static bool is_silence(const Report& report) {
    return report.finding.code == name_of(FindingCode::kNeighbourMissing);
  }

  // Whether nothing was received from it. With the other causes it runs, or another node on the path has answered.
  static bool is_out_of_reach(const MissingNode& node) {
    return node.cause == kNoPathCause || node.cause == kTimedOutCause || node.cause == kRefusedCause;
  }

  void add_missing() {
    for (const MissingNode& each : missing_) {
      const bool has_no_path = each.cause == kNoPathCause;
      // If several cables are silent at once, the likely fault is their node.
      const bool is_behind_one = has_no_path && cables_.number_to(each.node) == 1;
      if (is_behind_one || (is_out_of_reach(each) && cables_.cut_off(each.node))) {
        cut_off_.push_back(&each);
      } else if (has_no_path && cables_.number_to(each.node) == 0) {
        behind_.push_back(&each);
      } else {
        add_silent(each);
      }
    }
  }

  void add_silent(const MissingNode& node) {
    silent_.insert(node.node);
    const bool runs = node.cause == kOtherVersionCause || node.cause == kNoRoomCause;
    const std::string what = absl::StrCat(node.cause, ": ", node.what);
    ClusterFinding& finding = merge(what, {runs ? Severity::kWarning : Severity::kError,
                                           std::string(name_of(FindingCode::kNodeNotAnswering)),
                                           {absl::StrCat("node ", node.node)},
                                           what,
                                           node.advice,
                                           {}});
    if (is_out_of_reach(node)) ways_cut_.insert(&finding);
  }

  void add_finding(const Report& report) {
    if (follows_from_silent(report)) return;
    const Finding& own = report.finding;
    ClusterFinding& merged =
        merge(cause_of(report), {own.severity, own.code, {about(report)}, own.what, own.advice, {report.here.node}});
    if (report.there && is_wrong(report)) beyond_[report.there->node].insert(&merged);
  }

  // The findings of its cables are the cause why a node is cut off.
  void join_cut_off() {
    for (const MissingNode* const each : cut_off_) {
      const auto beside = beyond_.find(each->node);
      if (beside == beyond_.end()) {
        add_silent(*each);
        continue;
      }
      for (ClusterFinding* const cause : beside->second) join(*cause, each->node);
      ways_cut_.insert(beside->second.begin(), beside->second.end());
    }
  }

  // No node that answers has a cable to these nodes: all paths to them lead through nodes that do not answer. If those
  // have one common cause, it is the cause of these as well.
  void join_behind() {
    for (const MissingNode* const each : behind_) {
      if (ways_cut_.size() == 1) {
        join(**ways_cut_.begin(), each->node);
      } else {
        add_silent_behind(*each);
      }
    }
  }

  void add_silent_behind(const MissingNode& node) {
    merge("behind", {Severity::kError,
                     std::string(name_of(FindingCode::kNodeNotAnswering)),
                     {absl::StrCat("node ", node.node)},
                     absl::StrCat(node.cause, ": ", node.what),
                     node.advice,
                     {}});
  }

  void join(ClusterFinding& cause, const std::string& node) {
    cause.about.insert(absl::StrCat("node ", node));
    cause.severity = Severity::kError;
    not_asked_[&cause].insert(node);
  }

  // "..; so node n3 cannot be asked"
  static void name_not_asked(ClusterFinding& finding, const std::set<std::string>& nodes) {
    absl::StrAppend(&finding.what, "; so node", nodes.size() == 1 ? " " : "s ", about_text(nodes), " cannot be asked");
  }

  // A node that does not answer has a finding of its own, so the silence of its cables has none.
  bool follows_from_silent(const Report& report) const {
    return is_silence(report) && report.there && silent_.contains(report.there->node);
  }

  // What findings of one code have in common if they have one cause: the name that two nodes have, the neighbour that
  // is gone with all its cables, the cable, or the words, as of several nodes and ports.
  std::string cause_of(const Report& report) const {
    if (!report.namesake.empty()) return absl::StrCat("name ", report.namesake);
    if (is_silence(report) && report.there && !causes_.knows(report.there->node)) {
      return absl::StrCat("node ", report.there->node);
    }
    const bool is_of_cable = report.there.has_value() || !report.cable.empty();
    return is_of_cable && is_wrong(report) ? about(report) : report.finding.what;
  }

  ClusterFinding& merge(const std::string& cause, ClusterFinding finding) {
    const auto [known, is_new] = findings_.try_emplace({finding.code, cause}, finding);
    if (is_new) return known->second;
    known->second.about.insert(finding.about.begin(), finding.about.end());
    known->second.nodes.insert(finding.nodes.begin(), finding.nodes.end());
    known->second.severity = std::max(known->second.severity, finding.severity);
    return known->second;
  }

  const Settings& settings_;
  ClusterCauses causes_;
  KnownCables cables_;
  std::vector<Report> reports_;
  std::vector<MissingNode> missing_;
  std::vector<const MissingNode*> cut_off_;
  std::vector<const MissingNode*> behind_;
  std::set<std::string> silent_;  // nodes that are findings themselves
  // What is wrong with cables, by the node at their other end.
  std::map<std::string, std::set<ClusterFinding*>> beyond_;
  std::set<ClusterFinding*> ways_cut_;  // causes of nodes that are out of reach
  std::map<ClusterFinding*, std::set<std::string>> not_asked_;
  std::map<std::pair<std::string, std::string>, ClusterFinding> findings_;
};

std::string counted(const std::vector<ClusterFinding>& findings, Severity severity) {
  const auto count = std::count_if(findings.begin(), findings.end(),
                                   [&](const ClusterFinding& each) { return each.severity == severity; });
  return absl::StrCat(count, " ", std::string(name_of(severity)), count == 1 ? "" : "s");
}

}  // namespace

std::vector<ClusterFinding> examine_all_nodes(NodeDocuments& documents, const Settings& settings) {
  ClusterExamination examination(settings);
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
