#include "tools/cableway/doctor/doctor_speed.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

constexpr std::uint32_t kTestMs = 500;
constexpr std::uint64_t kMaxExpectedMbps = 20'000;
constexpr double kGoodShare = 0.7;

constexpr char kWhenNotReached[] =
    "circuits need the same connection: firewalls at both ends must allow the TCP port of cablewayd "
    "(CABLEWAY_RELAY_PORT there), and no other program may use it; run cableway doctor there";

// A failed test means that circuits fail, too, unless tests are disabled there or another test is running.
bool stops_circuits(const absl::Status& status) {
  return !absl::StrContains(status.message(), "CABLEWAY_CABLE_TEST is false") &&
         !absl::StrContains(status.message(), "test of this port is");
}

// The rate of the slower end, 0 where neither is known.
std::uint64_t nominal_mbps(const Json& port, const Json& neighbour) {
  std::uint64_t nominal = 0;
  for (const Json* end : {&port, &neighbour}) {
    if (end->at("rate_mbps").is_null()) continue;
    const std::uint64_t rate = number(*end, "rate_mbps");
    nominal = nominal == 0 ? rate : std::min(nominal, rate);
  }
  return nominal;
}

std::string measured(std::uint64_t rate_mbps) {
  constexpr double kGiga = 1000;
  if (rate_mbps < static_cast<std::uint64_t>(kGiga)) return absl::StrCat(rate_mbps, " Mbit/s");
  return absl::StrFormat("%.1f Gbit/s", static_cast<double>(rate_mbps) / kGiga);
}

Finding examine_cable(const Json& port, const Json& neighbour, const CableTest& test) {
  CableProbeRequest request{text(port, "interface"), text(neighbour, "node"), kTestMs, false};
  Finding finding;
  finding.code = name_of(FindingCode::kCableTested);
  finding.about = absl::StrCat("cable ", request.interface, " to node ", request.node);
  const absl::StatusOr<CableProbeReply> one_way = test(request);
  request.both_ways = true;
  const absl::StatusOr<CableProbeReply> both = one_way.ok() ? test(request) : one_way.status();
  if (!both.ok()) {
    finding.severity = Severity::kInfo;
    finding.code = name_of(FindingCode::kCableUntested);
    finding.what = absl::StrCat("its speed could not be tested: ", both.status().message());
    if (!stops_circuits(both.status())) return finding;
    finding.severity = Severity::kWarning;
    finding.code = name_of(FindingCode::kCableUnreachable);
    finding.advice = kWhenNotReached;
    return finding;
  }
  const std::uint64_t nominal = nominal_mbps(port, neighbour);
  const double good = kGoodShare * static_cast<double>(std::min(nominal, kMaxExpectedMbps));
  finding.what =
      absl::StrCat(measured(one_way->to_mbps), " one way; both ways at once ", measured(both->to_mbps), " there and ",
                   measured(both->from_mbps), " back; nominal ", nominal == 0 ? "not known" : rate_text(nominal));
  if (static_cast<double>(one_way->to_mbps) < good) {
    finding.severity = Severity::kWarning;
  } else if (static_cast<double>(std::min(both->to_mbps, both->from_mbps)) < good) {
    finding.severity = Severity::kInfo;
  }
  if (finding.severity == Severity::kOk) return finding;
  finding.code = name_of(FindingCode::kCableSlow);
  finding.advice = advice_of(FindingCode::kCableSlow);
  return finding;
}

}  // namespace

std::vector<Finding> examine_speed(const Json& ports, const CableTest& test) {
  std::vector<Finding> findings;
  for (const Json& port : ports) {
    for (const Json& neighbour : port.at("neighbours")) {
      if (text(neighbour, "state") == "up") findings.push_back(examine_cable(port, neighbour, test));
    }
  }
  return findings;
}

}  // namespace cableway::cli
