#include "tools/cableway/doctor/doctor_reach.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

// What the data of the test does after its connection has opened is for the speed test.
bool fails(const absl::Status& status) {
  return !status.ok() && stops_circuits(status) && !is_stalled(status);
}

}  // namespace

std::string about_cable(const ProbedCable& cable) {
  return absl::StrCat("cable ", cable.interface, " to node ", cable.node);
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

std::vector<Finding> examine_reach(const Json& ports, const CableTest& test) {
  std::vector<Finding> findings;
  for (const Json& port : ports) {
    for (const Json& neighbour : port.at("neighbours")) {
      if (text(neighbour, "state") != "up") continue;
      const ProbedCable cable{text(port, "interface"), text(neighbour, "node"), text(neighbour, "interface")};
      absl::Status reached = reach(cable, test);
      // A cable that loses packets may lose all of one attempt.
      if (fails(reached)) reached = reach(cable, test);
      if (!fails(reached)) continue;
      const FindingCode code = FindingCode::kCableUnreachable;
      findings.push_back(
          {Severity::kWarning, std::string(name_of(code)), about_cable(cable),
           absl::StrCat("no connection can be opened over it, although hellos pass: ", reached.message()),
           kWhenNotReached});
    }
  }
  return findings;
}

}  // namespace cableway::cli
