#include "tools/cableway/verbs/doctor.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "core/linux/files/key_reader.h"
#include "tools/cableway/all_nodes/all_doctor.h"
#include "tools/cableway/all_nodes/node_documents.h"
#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/doctor_reach.h"
#include "tools/cableway/doctor/doctor_speed.h"
#include "tools/cableway/doctor/doctor_view.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/node/node_query.h"
#include "tools/cableway/node/topology_look.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/verbs/node_view_verb.h"

namespace cableway::cli {
namespace {

absl::StatusOr<Json> ask_for_json(const Invocation& invocation, const std::string& view) {
  const absl::StatusOr<NodeView> answer = ask_node(invocation.settings, view, invocation.surroundings.node_deadline);
  if (!answer.ok()) return answer.status();
  return parse_answer(answer->text, view);
}

// `expect`: of the option, empty where it is not given.
Examined examine_all(const Invocation& invocation, const std::string& expect) {
  const Settings& settings = invocation.settings;
  Examined examined;
  examined.settings = settings;
  const std::string& expected = expect.empty() ? settings.expect : expect;
  if (!expected.empty()) examined.expected = read_expected(expected);
  examined.host = invocation.surroundings.read_host_facts(settings.ports);
  examined.host.sessions = read_session_facts(settings);
  if (!settings.key_file.empty()) examined.key = host::read_keys(settings.key_file).status();
  absl::StatusOr<Json> status = ask_for_json(invocation, "status");
  examined.node = status.status();
  if (!status.ok()) return examined;
  examined.status = *std::move(status);
  absl::StatusOr<Json> ports = ask_for_json(invocation, "ports");
  examined.node = ports.status();
  if (ports.ok()) examined.ports = *std::move(ports);
  absl::StatusOr<Json> events = ask_for_json(invocation, "events");
  if (events.ok()) examined.events = *std::move(events);
  absl::StatusOr<KnownTopology> known = find_topology(settings, "", invocation.surroundings.node_deadline);
  if (known.ok()) {
    examined.topology = std::move(known->topology);
  } else if (examined.node.ok()) {
    examined.node = known.status();
  }
  return examined;
}

// The time that a cable test may take beyond other requests: it opens connections and devices, and may start late.
constexpr std::chrono::seconds kTestAllowance{10};

// For Json::dump().
constexpr int kOneLine = -1;
constexpr int kIndent = 2;

class DoctorVerb final : public Verb {
 public:
  Command describe() override {
    return {
        .name = "doctor",
        .summary = "diagnoses problems and advises what to do; changes nothing",
        .notes =
            "It examines the settings, the host and the node; only settings and host if no node runs.\n\n" +
            all_nodes_notes("one finding for each cause, although both ends of a cable report it or many nodes have "
                            "it. It uses what nodes know of themselves, and tests nothing; a node that does not "
                            "answer is an error, or a warning where it is of another version or has no room."),
        .exit_statuses = {{kDone, "nothing above info"},
                          {kWarnings, "warnings"},
                          {kErrors, "errors, or invalid arguments or settings"},
                          {kNoNode, "no node runs here"},
                          {kNoAnswer, "the node here does not answer"}},
        .examples = {"cableway doctor", "cableway doctor --no-speed", "cableway doctor --all",
                     "cableway doctor --all --watch", "cableway doctor --expect plan/expected.toml",
                     "cableway doctor --json | jq '.findings[]'"},
        .arguments = {json_flag(json_), expect_option(expect_),
                      all_nodes_flag(all_).excluding({"--no-speed", "--least-share", "--expect"}),
                      flag("--watch,-w", watch_,
                           "show it again every second until interrupted; with --json, one document per line")
                          .needing({"--all"}),
                      flag("--no-speed", no_speed_, "skip the cable speed tests, which send much data over the cables"),
                      real_option("--least-share", 0.01, 1, least_share_,
                                  "the share of its rate that a cable or plug has to carry over RDMA each way")
                          .excluding({"--no-speed"})}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    if (all_) return watch_ ? watch_all(invocation) : run_all(invocation);
    const Examined examined = examine_all(invocation, expect_);
    const absl::StatusOr<std::vector<Finding>> findings = find(invocation, examined);
    if (!findings.ok()) return findings.status();
    const TopologyLook named(invocation.look(), examined.topology);
    Answer answer{json_ ? doctor_json(*findings, examined.host.nccl)
                        : doctor_text(*findings, examined.host.nccl, named.look())};
    const Severity worst = worst_of(*findings);
    if (absl::IsNotFound(examined.node) || absl::IsDeadlineExceeded(examined.node)) {
      answer.exit_status = exit_status_of(examined.node);
    } else if (worst >= Severity::kWarning) {
      answer.exit_status = worst == Severity::kError ? kErrors : kWarnings;
    }
    return answer;
  }

 private:
  // Ends when the node here or the output does. Findings do not change the exit status.
  absl::StatusOr<Answer> watch_all(const Invocation& invocation) const {
    const auto show = [&]() -> absl::StatusOr<std::string> {
      const absl::StatusOr<Answer> answer = run_all(invocation);
      if (!answer.ok()) return answer.status();
      return answer->text;
    };
    const bool on_terminal = invocation.surroundings.out_is_terminal && !json_;
    return watch_view({show, invocation.surroundings.watch_pause, on_terminal}, invocation.out);
  }

  absl::StatusOr<Answer> run_all(const Invocation& invocation) const {
    absl::StatusOr<AllNodesView> answer =
        ask_all_nodes(invocation.settings, "doctor", invocation.surroundings.node_deadline);
    if (!answer.ok()) return answer.status();
    NodeDocuments documents = read_documents(std::move(answer->answers), answer->unheard);
    const std::vector<ClusterFinding> findings = examine_all_nodes(documents, invocation.settings);
    const Severity worst = worst_of_all(findings);
    const int status = worst >= Severity::kError ? kErrors : worst == Severity::kWarning ? kWarnings : kDone;
    if (json_) return Answer{all_doctor_json(findings, documents).dump(watch_ ? kOneLine : kIndent) + "\n", status};
    const auto named = look_with_names(invocation.settings, invocation.surroundings.node_deadline, invocation.look());
    return Answer{all_doctor_text(findings, documents, named->look()), status};
  }

  absl::StatusOr<std::vector<Finding>> find(const Invocation& invocation, const Examined& examined) const {
    try {
      std::vector<Finding> findings = examine(examined);
      if (!examined.ports) return findings;
      const auto test = [&](const CableProbeRequest& cables) {
        return test_cables(invocation.settings, cables, invocation.surroundings.node_deadline + kTestAllowance);
      };
      SpeedExamination speed{text(*examined.status, "node"), examined.ports->at("ports"),
                             examined.topology ? &*examined.topology : nullptr, least_share_};
      if (examined.expected && examined.expected->ok()) speed.expected = &(*examined.expected)->topology;
      Reach reach = examine_reach(speed, test, no_speed_);
      speed.unreachable = std::move(reach.unreachable);
      std::move(reach.findings.begin(), reach.findings.end(), std::back_inserter(findings));
      if (no_speed_) return findings;
      for (Finding& finding : examine_speed(speed, test)) findings.push_back(std::move(finding));
      return findings;
    } catch (const Json::exception& error) {
      return not_understood("status or ports", error.what());
    }
  }

  bool json_ = false;
  bool all_ = false;
  bool watch_ = false;
  bool no_speed_ = false;
  std::string expect_;
  double least_share_ = kLeastShare;
};

}  // namespace

std::unique_ptr<Verb> doctor_verb() {
  return std::make_unique<DoctorVerb>();
}

}  // namespace cableway::cli
