#include "tools/cableway/doctor/doctor_reach.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cableway::cli {
namespace {

constexpr char kWhenNotReached[] =
    "circuits need the same connection: firewalls at both ends must allow the TCP port of cablewayd "
    "(CABLEWAY_RELAY_PORT there), and no other program may use it; run cableway doctor there";

absl::Status reach(const ProbedCable& cable, const CableTest& test) {
  const absl::StatusOr<CableProbeReply> reply = test({{cable}, kReachMs, false});
  if (!reply.ok()) return reply.status();
  if (reply->cables.size() != 1) return absl::InternalError("the node's answer is about other cables");
  const std::string& error = reply->cables.front().error;
  return error.empty() ? absl::OkStatus() : absl::FailedPreconditionError(error);
}

}  // namespace

std::string about_cable(const Json& port, const Json& neighbour) {
  const Json& all = port.at("neighbours");
  const auto same = std::count_if(all.begin(), all.end(), [&](const Json& each) {
    return text(each, "state") == "up" && text(each, "node") == text(neighbour, "node");
  });
  return absl::StrCat("cable ", text(port, "interface"), " to node ", text(neighbour, "node"),
                      same > 1 ? absl::StrCat(" (", text(neighbour, "interface"), " there)") : "");
}

bool is_lossy(const SpeedExamination& examination, const ProbedCable& cable) {
  if (examination.topology == nullptr) return false;
  const routing::Topology& topology = *examination.topology;
  const std::span<const routing::Cable> cables = topology.plugged_cables();
  return std::any_of(cables.begin(), cables.end(), [&](const routing::Cable& each) {
    const auto is_here = [&](const routing::Port& port, const routing::Port& other) {
      return topology.node(port.node).name == examination.node && port.interface == cable.interface &&
             topology.node(other.node).name == cable.node && other.interface == cable.other_interface;
    };
    return each.loss_percent > 0 && (is_here(each.a, each.b) || is_here(each.b, each.a));
  });
}

bool stops_circuits(const absl::Status& status) {
  return !absl::StrContains(status.message(), "CABLEWAY_CABLE_TEST is false") &&
         !absl::StrContains(status.message(), "test of this port is");
}

bool is_stalled(const absl::Status& status) {
  constexpr const char* kParts[] = {"in time", "ended too early", "no answer", "cannot receive", "cannot send"};
  return !absl::StrContains(status.message(), "no answer to the set-up") &&
         std::any_of(std::begin(kParts), std::end(kParts),
                     [&](const char* part) { return absl::StrContains(status.message(), part); });
}

Reach examine_reach(const SpeedExamination& examination, const CableTest& test, bool is_all) {
  Reach result;
  for (const Json& port : examination.ports) {
    for (const Json& neighbour : port.at("neighbours")) {
      if (text(neighbour, "state") != "up") continue;
      const ProbedCable cable{text(port, "interface"), text(neighbour, "node"), text(neighbour, "interface")};
      const bool reports_stall = is_all && !is_lossy(examination, cable);
      const auto fails = [&](const absl::Status& status) {
        return !status.ok() && stops_circuits(status) && (reports_stall || !is_stalled(status));
      };
      absl::Status reached = reach(cable, test);
      // A cable that loses packets may lose all of one attempt.
      if (fails(reached)) reached = reach(cable, test);
      if (!fails(reached)) continue;
      if (is_stalled(reached)) {
        result.findings.push_back(stalled_finding(about_cable(port, neighbour), reached, port));
        continue;
      }
      result.unreachable.push_back(cable);
      result.findings.push_back(
          {Severity::kWarning, std::string(name_of(FindingCode::kCableUnreachable)), about_cable(port, neighbour),
           absl::StrCat("no connection can be opened over it, although hellos pass: ", reached.message()),
           kWhenNotReached});
    }
  }
  return result;
}

}  // namespace cableway::cli
