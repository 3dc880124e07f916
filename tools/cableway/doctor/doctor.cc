#include "tools/cableway/doctor/doctor.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/paths/weak_points.h"
#include "routing/text/node_name.h"
#include "tools/cableway/doctor/doctor_arp.h"
#include "tools/cableway/doctor/doctor_nccl.h"
#include "tools/cableway/doctor/doctor_networks.h"
#include "tools/cableway/doctor/doctor_ports.h"
#include "tools/cableway/doctor/known_causes.h"
#include "tools/cableway/expectation/comparison.h"
#include "tools/cableway/expectation/explained_differences.h"
#include "tools/cableway/expectation/fitting_tuner.h"
#include "tools/cableway/node/answer_text.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

// RDMA registers whole buffers of a job.
constexpr std::uint64_t kEnoughMemlock = std::uint64_t{1} << 30;

FindingCode code_of(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kNodeMissing:
      return FindingCode::kExpectedNodeMissing;
    case DifferenceKind::kNodeExtra:
      return FindingCode::kNodeNotExpected;
    case DifferenceKind::kNodeNamed:
      return FindingCode::kNodeNamedOtherwise;
    case DifferenceKind::kCablesSwapped:
      return FindingCode::kCablesSwapped;
    case DifferenceKind::kCableElsewhere:
      return FindingCode::kCableInWrongPlug;
    case DifferenceKind::kCableMissing:
      return FindingCode::kExpectedCableMissing;
    case DifferenceKind::kCableExtra:
      return FindingCode::kCableNotExpected;
    case DifferenceKind::kFunctionsDiffer:
      break;
  }
  return FindingCode::kCableFunctionsDiffer;
}

class Examination {
 public:
  explicit Examination(const Examined& examined) : examined_(examined) {
    own_faults_.node = own_name();
    if (examined.status) {
      causes_ = KnownCauses(examined.status->at("problems"), own_name());
      if (examined.events) causes_.add_losses(examined.events->at("events"));
      if (examined.topology) add_reached(*examined.topology);
    }
    // The topology merges two nodes of one name, so a comparison with it would be misleading.
    const bool is_comparable = examined.topology && examined.expected && examined.expected->ok();
    if (is_comparable && !causes_.has_namesakes()) {
      comparison_ = compare_topologies((*examined.expected)->topology, *examined.topology);
      miswired_ = miswired_ports(*comparison_, *examined.topology, own_name());
    }
  }

  std::vector<Finding> run() {
    check_node();
    if (examined_.status) check_sessions();
    check_key();
    check_host();
    check_verbs();
    check_ports();
    if (examined_.status) check_status(*examined_.status);
    if (examined_.topology) check_topology(*examined_.topology);
    if (examined_.expected) check_expectation(*examined_.expected);
    check_tuner();
    return std::move(findings_);
  }

 private:
  using Text = std::optional<std::string>;  // nullopt: the code's own

  template <typename Code>
  void add(Severity severity, Code code, std::string about, Text what = {}, Text advice = {}) {
    findings_.push_back({severity, std::string(name_of(code)), std::move(about), what.value_or(meaning_of(code)),
                         advice.value_or(advice_of(code))});
  }
  void add(EventCode code, std::string about, Text what = {}, Text advice = {}) {
    add(grade_of(code), code, std::move(about), std::move(what), std::move(advice));
  }

  void add_reached(const routing::Topology& topology) {
    const std::optional<routing::NodeIndex> here = topology.find_node(own_name());
    for (const auto& part : topology.components()) {
      if (!here || std::find(part.begin(), part.end(), *here) == part.end()) continue;
      for (const routing::NodeIndex node : part) causes_.add_reached(topology.node(node).name);
    }
  }

  // Empty: no node answers.
  std::string own_name() const { return examined_.status ? text(*examined_.status, "node") : ""; }

  void check_node() {
    if (!examined_.node.ok()) {
      const std::string reason(examined_.node.message());
      const std::size_t line = reason.find('\n');
      const FindingCode code = absl::IsNotFound(examined_.node)           ? FindingCode::kNodeNotRunning
                               : absl::IsPermissionDenied(examined_.node) ? FindingCode::kSessionNotAllowed
                                                                          : FindingCode::kNodeNotAnswering;
      return add(Severity::kError, code, "node", reason.substr(0, line),
                 line == std::string::npos ? Text() : reason.substr(line + 1));
    }
    if (!examined_.status) return;
    add(Severity::kOk, FindingCode::kNodeAnswers, "node",
        absl::StrCat(text(*examined_.status, "node"), " of cluster ", text(*examined_.status, "cluster"), " answers"));
  }

  void check_sessions() {
    const host::SessionAccess& sessions = examined_.host.sessions;
    const std::string who =
        sessions.has_socket ? admitted_text(sessions) : absl::StrCat("only root and user ", sessions.user);
    const std::string what = absl::StrCat(who, " may open sessions with the node here");
    const bool has_no_group = sessions.has_socket && !sessions.everyone && sessions.group.empty();
    if (has_no_group) return add(EventCode::kSessionGroupMissing, "sessions", what);
    add(Severity::kOk, FindingCode::kSessionAccess, "sessions", what);
  }

  void check_key() {
    if (examined_.settings.key_file.empty()) return add(EventCode::kKeyMissing, "key");
    if (examined_.key.ok())
      return add(Severity::kOk, FindingCode::kKeyReadable, "key",
                 absl::StrCat(examined_.settings.key_file, " holds a key"));
    // A key that only root can read is expected if the node runs as root.
    const bool is_other_users_node =
        examined_.node.ok() && absl::StrContains(examined_.key.message(), "Permission denied");
    add(is_other_users_node ? Severity::kInfo : Severity::kError, EventCode::kKeyUnreadable, "key",
        std::string(examined_.key.message()));
  }

  void check_host() {
    const HostFacts& host = examined_.host;
    if (host.plugin.empty()) {
      add(Severity::kWarning, FindingCode::kPluginMissing, "plugin", absl::StrCat("no plugin at ", host.plugin_sought));
    }
    if (uses_rdma() && host.memlock_bytes && *host.memlock_bytes < kEnoughMemlock) {
      add(Severity::kWarning, FindingCode::kMemlockLow, "memory",
          absl::StrCat("the memory lock limit of this shell is ", bytes_text(*host.memlock_bytes),
                       ": RDMA needs more, and fails without it"));
    }
    if (host.default_interfaces.empty()) {
      add(Severity::kInfo, FindingCode::kDefaultRouteMissing, "network");
    }
  }

  bool uses_rdma() const {
    return examined_.host.has_rdma_devices && examined_.settings.transport != TransportSetting::kTcp;
  }

  void check_verbs() {
    const HostFacts& host = examined_.host;
    if (!uses_rdma()) return;
    if (!host.has_verbs_files) {
      add(Severity::kWarning, FindingCode::kVerbsFilesMissing, "RDMA", std::nullopt,
          host.in_container ? "start the container with the options that cableway env --docker prints on its host"
                            : "modprobe ib_uverbs");
    }
    if (!host.no_verbs_library.empty()) {
      add(Severity::kWarning, FindingCode::kVerbsLibraryMissing, "RDMA",
          absl::StrCat("there are RDMA devices, but ", host.no_verbs_library),
          "without libibverbs, hops over ports with such a device are refused; CABLEWAY_TRANSPORT=tcp avoids RDMA");
    }
  }

  // As the node reports them, else as this host sees them.
  std::vector<RejectedPort> rejected() const {
    if (!examined_.ports) return examined_.host.rejected;
    std::vector<RejectedPort> list;
    for (const Json& each : examined_.ports->at("rejected")) {
      list.push_back({text(each, "interface"), text(each, "reason"), each.at("requested").get<bool>()});
    }
    return list;
  }

  void check_ports() {
    const Json ports = examined_.ports ? examined_.ports->at("ports")
                                       : ports_of_host(examined_.host.ports, examined_.settings.transport);
    std::vector<Finding> rejected = examine_rejected(this->rejected());
    const bool names_why = std::any_of(rejected.begin(), rejected.end(), is_requested);
    if (ports.empty() && names_why) {
      // Without another port this host cannot run a job.
      for (Finding& finding : rejected) {
        if (is_requested(finding)) finding.severity = Severity::kError;
      }
    } else if (ports.empty() && !examined_.host.no_cables.empty()) {
      add(Severity::kError, FindingCode::kContainerNetwork, "network", examined_.host.no_cables);
    } else if (ports.empty()) {
      const std::string& reason = examined_.host.no_ports;
      add(EventCode::kNoPorts, "ports", std::nullopt, reason.empty() ? Text() : reason);
    }
    append(examine_ports(ports, examined_.settings, examined_.host.links, causes_));
    append(examine_networks(ports, examined_.host));
    const bool one_path = examined_.settings.multipath == MultipathSetting::kOff;
    append(examine_nccl(examined_.host.nccl, has_split_plug(ports) && one_path));
    append(examine_arp(ports, examined_.host.arp_ignore,
                       [&](const std::string& interface) { return causes_.hears_namesakes(interface); }));
    if (examined_.ports) note_faulty_ports(ports, rejected);
    append(std::move(rejected));
  }

  static bool is_requested(const Finding& rejected) {
    return rejected.severity >= Severity::kWarning && rejected.code == name_of(EventCode::kPortUnusable);
  }

  // The nodes at the other ends of ports that have a finding, as their cable is not up.
  void note_faulty_ports(const Json& ports, const std::vector<Finding>& rejected) {
    const auto note_lost = [&](const std::string& interface) {
      const KnownCauses::LostNeighbour* const lost = causes_.lost_neighbour(interface);
      if (lost != nullptr) own_faults_.beyond.insert(lost->node);
    };
    for (const Finding& finding : rejected) {
      if (is_requested(finding)) own_faults_.ports.insert(finding.about);
      note_lost(finding.about);
    }
    for (const Json& port : ports) {
      const Json& neighbours = port.at("neighbours");
      const bool is_up = std::any_of(neighbours.begin(), neighbours.end(),
                                     [](const Json& each) { return text(each, "state") == "up"; });
      if ((is_up || is_spare_port(neighbours)) && port.at("carrier").get<bool>()) continue;
      own_faults_.ports.insert(text(port, "interface"));
      note_lost(text(port, "interface"));
      for (const Json& each : neighbours) own_faults_.beyond.insert(text(each, "node"));
    }
  }

  // Whether the examination of the key or the ports reports these, with the port and what to do.
  bool is_found_already(const std::string& code) const {
    if (code == name_of(EventCode::kPortUnusable)) return true;
    if (code == name_of(EventCode::kKeyUnreadable)) return has_finding(code, Severity::kError);
    if (!examined_.ports) return false;
    return code == name_of(EventCode::kNoPorts) || code == name_of(EventCode::kControlSocketFailed);
  }

  // The addresses of a cable in another plug than expected are of different subnets.
  bool follows_from_plug(const Json& problem) const {
    return text(problem, "code") == name_of(EventCode::kLinkLocalUsed) &&
           miswired_.contains(text_or_none(problem, "interface"));
  }

  bool has_finding(const std::string& code, Severity severity) const {
    return std::any_of(findings_.begin(), findings_.end(),
                       [&](const Finding& each) { return each.code == code && each.severity == severity; });
  }

  void check_problems(const Json& problems) {
    std::map<std::string, std::size_t> of_names;  // findings, by the name that several nodes have
    for (const Json& problem : problems) {
      const std::string code = text(problem, "code");
      if (is_found_already(code) || causes_.follows(code) || follows_from_plug(problem)) continue;
      const std::string namesake = code == name_of(EventCode::kNameTaken) ? text_or_none(problem, "neighbour") : "";
      // One name is one cause, on however many ports it is heard.
      const auto [of_name, is_new] = of_names.try_emplace(namesake, findings_.size());
      if (!namesake.empty() && !is_new) {
        absl::StrAppend(&findings_[of_name->second].what, "; a further one on port ", text(problem, "interface"));
        continue;
      }
      // The text of a problem contains the advice.
      findings_.push_back({grade_of(code), code, "problem", problem_text(problem), ""});
    }
  }

  void check_status(const Json& status) {
    check_problems(status.at("problems"));
    if (status.at("draining").get<bool>()) add(EventCode::kDraining, "node");
    for (const Json& cable : status.at("draining_cables")) {
      add(EventCode::kCableDraining, absl::StrCat("cable ", cable.get<std::string>()));
    }
    const Json& relayed = status.at("relayed");
    if (number(relayed, "circuits_broken") > 0) {
      add(EventCode::kCircuitBroken, "node",
          absl::StrCat(number(relayed, "circuits_broken"), " circuits through it have broken since it started"),
          "cableway events and the node's log show when cables were lost: CABLE_LOST");
    }
    if (number(relayed, "setups_refused") > 0) {
      add(EventCode::kCircuitRefused, "node",
          absl::StrCat("it has refused ", number(relayed, "setups_refused"), " set-ups"),
          "cableway events and the node's log show which, and why: CIRCUIT_REFUSED, CONNECTION_REFUSED");
    }
  }

  // Whether the comparison tells what is missing, which says more than that the topology is in parts.
  bool lacks_expected() const {
    const auto is_missing = [](const Difference& each) {
      return each.kind == DifferenceKind::kNodeMissing || each.kind == DifferenceKind::kCableMissing;
    };
    return comparison_ && std::any_of(comparison_->differences.begin(), comparison_->differences.end(), is_missing);
  }

  void check_topology(const routing::Topology& topology) {
    const auto names = [&](const std::vector<routing::NodeIndex>& nodes) {
      return absl::StrJoin(nodes, ", ", [&](std::string* out, routing::NodeIndex node) {
        absl::StrAppend(out, topology.node(node).name);
      });
    };
    const auto parts = topology.components();
    const auto is_explained = [&](const std::vector<routing::NodeIndex>& part) {
      return std::any_of(part.begin(), part.end(), [&](routing::NodeIndex node) {
        const std::string& name = topology.node(node).name;
        return own_faults_.beyond.contains(name) || name == own_name();
      });
    };
    if (parts.size() > 1 && !lacks_expected() && !std::all_of(parts.begin(), parts.end(), is_explained)) {
      const std::string groups =
          absl::StrJoin(parts, " | ", [&](std::string* out, const auto& part) { absl::StrAppend(out, names(part)); });
      add(Severity::kWarning, FindingCode::kTopologyInParts, "topology",
          absl::StrCat("no path leads between these parts: ", groups));
    }
    check_losses(topology);
    const routing::PhysicalCables physical = routing::physical_cables(topology);
    const routing::WeakPoints weak = routing::weak_points(topology, physical);
    if (!weak.nodes.empty()) {
      add(Severity::kInfo, FindingCode::kSinglePointOfFailure, "topology",
          absl::StrCat("if any one of ", names(weak.nodes), " fails, the topology becomes disconnected"));
    }
  }

  // The end that sends knows of a loss only from the other one's advertisement.
  void check_losses(const routing::Topology& topology) {
    if (!examined_.status) return;
    const std::string name = text(*examined_.status, "node");
    for (const routing::Cable& cable : topology.plugged_cables()) {
      const std::string& a = topology.node(cable.a.node).name;
      const std::string& b = topology.node(cable.b.node).name;
      if (cable.loss_percent == 0 || (a != name && b != name)) continue;
      if (causes_.has_of_cable(EventCode::kCableLossy, cable.name)) continue;
      add(EventCode::kCableLossy, absl::StrCat("cable ", cable.name),
          absl::StrCat("loses ", cable.loss_percent, " % of what this node sends over it, as node ", a == name ? b : a,
                       " finds: paths use it only where there is no better way"));
    }
  }

  void check_expectation(const absl::StatusOr<ExpectedTopology>& expected) {
    if (!expected.ok()) {
      return add(Severity::kError, FindingCode::kExpectationUnreadable, "topology",
                 std::string(expected.status().message()));
    }
    if (!comparison_) return;
    const Comparison left = without_explained(*comparison_, expected->topology, own_faults_);
    for (const Difference& each : left.differences) {
      add(Severity::kWarning, code_of(each.kind), each.about, each.what, each.advice);
    }
    if (comparison_->differences.empty()) {
      add(Severity::kOk, FindingCode::kTopologyAsExpected, "topology",
          absl::StrCat("it matches the expected topology ", routing::escaped(expected->file)));
    }
  }

  // By the expected topology where there is one, since a cable that is out for a while does not change it.
  void check_tuner() {
    const auto& expected = examined_.expected;
    const bool has_expected = expected && expected->ok();
    if (!has_expected && !examined_.topology) return;
    const std::optional<TunerSetting> fitting =
        fitting_tuner(has_expected ? (*expected)->topology : *examined_.topology);
    const TunerSetting now = examined_.settings.tuner;
    if (!fitting || now == TunerSetting::kOff || now == *fitting) return;
    // A ring with a cable that is out looks like a line, too.
    if (*fitting == TunerSetting::kLine && !has_expected) return;
    const std::string wanted = tuner_name(*fitting);
    add(Severity::kInfo, FindingCode::kTunerUnfit, "tuner",
        absl::StrCat("CABLEWAY_TUNER is ", tuner_name(now), " here, and ",
                     has_expected ? "the expected topology" : "the topology", " is one for ", wanted,
                     ": all_reduce may be slower than it could be"),
        absl::StrCat("set tuner = \"", wanted, "\" in the settings of all hosts, or CABLEWAY_TUNER=", wanted,
                     " in all ranks: hosts that differ cannot share a job"));
  }

  void append(std::vector<Finding> more) { std::move(more.begin(), more.end(), std::back_inserter(findings_)); }

  const Examined& examined_;
  KnownCauses causes_;
  std::optional<Comparison> comparison_;  // with the expected topology; nullopt: they cannot be compared
  std::set<std::string> miswired_;        // ports
  OwnFaults own_faults_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine(const Examined& examined) {
  return Examination(examined).run();
}

}  // namespace cableway::cli
