#include "tools/cableway/doctor/doctor_speed.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "routing/topology/physical_cable.h"
#include "tools/cableway/doctor/doctor_reach.h"
#include "tools/cableway/doctor/wire_expectation.h"
#include "tools/cableway/expectation/expected_rate.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

constexpr std::uint32_t kTestMs = 500;
constexpr std::uint64_t kMaxTcpMbps = 20'000;  // of one connection
constexpr double kLeastTcpShare = 0.7;
// Bytes on the wire of a RoCE v2 packet over IPv4, in addition to its payload: preamble and gap 20, Ethernet 18, IP 20,
// UDP 8, InfiniBand 16.
constexpr double kPacketOverhead = 82;

// What a cable is to carry. A rate of 0 is not known.
struct Nominal {
  std::uint64_t ports_mbps = 0;     // of the slower end, or the whole wire
  std::uint64_t expected_mbps = 0;  // as the expected topology states it
  std::uint64_t mbps() const { return expected_mbps != 0 ? expected_mbps : ports_mbps; }
  bool ports_are_slower() const { return ports_mbps != 0 && ports_mbps < expected_mbps; }
};

// The advice for a slow cable, without reasons that do not apply to it.
std::string advice_for_slow(std::uint64_t mtu, bool rdma, const Nominal& nominal = {}) {
  std::vector<std::string> reasons;
  if (nominal.ports_are_slower()) {
    reasons.push_back(absl::StrCat("that a port runs at ", rate_text(nominal.ports_mbps),
                                   " (ethtool and cableway ports show the rates of its link and PCIe link)"));
  }
  if (mtu < kJumboMtu) reasons.push_back(absl::StrCat("MTU ", mtu));
  if (!rdma) reasons.push_back("a busy CPU");
  reasons.push_back("a bad cable (ethtool -S shows its errors)");
  reasons.push_back("a limit of the rate on either host or on a switch in between (tc qdisc show)");
  return absl::StrCat("test again while no job runs; the usual reasons are ", absl::StrJoin(reasons, ", "));
}

Finding stalled(const std::string& about, const absl::Status& why, std::uint64_t mtu) {
  return {Severity::kWarning, std::string(name_of(FindingCode::kCableSlow)), about,
          absl::StrCat("it is so slow that the data of a test does not cross it in time: ", why.message()),
          advice_for_slow(mtu, false)};
}

// The share of the wire's rate that is payload with packets of that size, relative to that with full packets.
double payload_share(std::uint64_t packet_bytes) {
  const auto share = [](double bytes) { return bytes / (bytes + kPacketOverhead); };
  return share(static_cast<double>(packet_bytes)) / share(kFullPacket);
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

std::string measured_text(std::uint64_t rate_mbps) {
  constexpr double kGiga = 1000;
  if (rate_mbps < static_cast<std::uint64_t>(kGiga)) return absl::StrCat(rate_mbps, " Mbit/s");
  return absl::StrFormat("%.1f Gbit/s", static_cast<double>(rate_mbps) / kGiga);
}

struct TestedCable {
  ProbedCable ends;
  Nominal nominal = {};
  bool both_known = false;  // whether the rates of both ends are known
  bool healthy = false;     // when tested alone
  bool lossy = false;       // it loses packets: that slows it, and has a finding of its own
  std::uint64_t mtu = 0;    // of the port here
  std::string about = {};
};

// What cables carried together.
struct Rates {
  std::uint64_t to_mbps = 0;
  std::uint64_t from_mbps = 0;
  bool rdma = true;                          // all of them
  std::uint64_t packet_bytes = kFullPacket;  // the smallest, over RDMA
  std::string over;                          // "rdma mlx5_0", "tcp"
};

struct Expected {
  Nominal nominal;
  std::uint64_t least_mbps = 0;
  std::uint64_t small_packet = 0;  // bytes, if less is expected because packets are that small; else 0
};

class SpeedTest {
 public:
  SpeedTest(const SpeedExamination& examination, const CableTest& test) : examination_(examination), test_(test) {}

  std::vector<Finding> run() {
    for (const Json& port : examination_.ports) {
      for (const Json& neighbour : port.at("neighbours")) {
        if (text(neighbour, "state") != "up") continue;
        const ProbedCable ends{text(port, "interface"), text(neighbour, "node"), text(neighbour, "interface")};
        const std::vector<ProbedCable>& unreachable = examination_.unreachable;
        if (std::find(unreachable.begin(), unreachable.end(), ends) != unreachable.end()) continue;
        const bool both_known = !port.at("rate_mbps").is_null() && !neighbour.at("rate_mbps").is_null();
        cables_.push_back({ends, {nominal_mbps(port, neighbour), stated_mbps(ends)}, both_known});
        cables_.back().lossy = is_lossy(examination_, ends);
        cables_.back().mtu = port.value("mtu", kJumboMtu);
        cables_.back().about = about_cable(port, neighbour);
        test_cable(cables_.back());
      }
    }
    if (examination_.topology != nullptr) test_wires(*examination_.topology);
    return std::move(findings_);
  }

 private:
  std::uint64_t stated_mbps(const ProbedCable& cable) const {
    if (examination_.expected == nullptr) return 0;
    return expected_rate_mbps(*examination_.expected, examination_.node, cable);
  }

  // All of `cables` at once.
  absl::StatusOr<Rates> measure(const std::vector<ProbedCable>& cables, bool both_ways) const {
    const absl::StatusOr<CableProbeReply> reply = test_({cables, kTestMs, both_ways});
    if (!reply.ok()) return reply.status();
    if (reply->cables.size() != cables.size()) return absl::InternalError("the node's answer is about other cables");
    Rates rates;
    std::vector<std::string> over;
    for (const CableRates& each : reply->cables) {
      if (!each.error.empty()) return absl::FailedPreconditionError(each.error);
      rates.to_mbps += each.to_mbps;
      rates.from_mbps += each.from_mbps;
      rates.rdma = rates.rdma && each.over != "tcp";
      if (each.packet_bytes != 0) rates.packet_bytes = std::min<std::uint64_t>(rates.packet_bytes, each.packet_bytes);
      if (std::find(over.begin(), over.end(), each.over) == over.end()) over.push_back(each.over);
    }
    rates.over = absl::StrJoin(over, ", ");
    return rates;
  }

  // The least rate that `cables` cables with that joint nominal rate have to reach.
  Expected expect(const Nominal& nominal, std::size_t cables, const Rates& rates) const {
    const std::uint64_t rate = nominal.mbps();
    const std::uint64_t limit = rates.rdma ? rate : std::min<std::uint64_t>(rate, cables * kMaxTcpMbps);
    const double share = rates.rdma ? examination_.least_share * payload_share(rates.packet_bytes) : kLeastTcpShare;
    const bool is_small = rates.rdma && rates.packet_bytes < kFullPacket;
    return {nominal, static_cast<std::uint64_t>(share * static_cast<double>(limit)), is_small ? rates.packet_bytes : 0};
  }

  Finding& add(Severity severity, FindingCode code, std::string about, std::string what, std::string advice = "") {
    return findings_.emplace_back(
        Finding{severity, std::string(name_of(code)), std::move(about), std::move(what), std::move(advice)});
  }

  // `lossy`, `mtu`: of the cable or, together, of the wire's.
  void add_untested(const std::string& about, const absl::Status& why, bool lossy, std::uint64_t mtu) {
    const std::string what = absl::StrCat("its speed could not be tested: ", why.message());
    if (!stops_circuits(why)) {
      add(Severity::kInfo, FindingCode::kCableUntested, about, what);
    } else if (is_stalled(why)) {
      findings_.push_back(stalled(about, why, mtu));
      if (lossy) findings_.back().severity = Severity::kInfo;
    } else {
      add(Severity::kWarning, FindingCode::kCableUnreachable, about, what, advice_of(FindingCode::kCableUnreachable));
    }
  }

  // `one_way`: nullopt if it was not measured.
  void add_result(const std::string& about, const std::optional<Rates>& one_way, const Rates& both,
                  const Expected& expected, bool parts_are_healthy, bool lossy, std::uint64_t mtu) {
    const bool slow_one_way = one_way && one_way->to_mbps < expected.least_mbps;
    const bool slow = slow_one_way || std::min(both.to_mbps, both.from_mbps) < expected.least_mbps;
    const std::uint64_t nominal_mbps = expected.nominal.mbps();
    const bool has_nominal = nominal_mbps != 0;
    std::string what = one_way ? absl::StrCat(measured_text(one_way->to_mbps), " one way; both") : "both";
    absl::StrAppend(&what, " ways at once ", measured_text(both.to_mbps), " there and ", measured_text(both.from_mbps),
                    " back; ");
    if (has_nominal) {
      absl::StrAppend(&what, "nominal ", rate_text(nominal_mbps),
                      expected.nominal.expected_mbps != 0 ? " in the expected topology" : "", ", expected ",
                      measured_text(expected.least_mbps), " at least (", both.over);
      if (expected.small_packet != 0) absl::StrAppend(&what, ", packets of ", expected.small_packet, " bytes");
      absl::StrAppend(&what, ")");
    } else {
      absl::StrAppend(&what, "nominal not known (", both.over, ")");
    }
    const bool degraded = slow && !slow_one_way && both.rdma;
    if (degraded && one_way) absl::StrAppend(&what, "; healthy one way: only both at once show it");
    if (degraded && !one_way && parts_are_healthy) absl::StrAppend(&what, "; each of its cables alone is healthy");
    const FindingCode code = degraded ? FindingCode::kCableDegraded
                             : slow   ? FindingCode::kCableSlow
                                      : FindingCode::kCableTested;
    // Over TCP both directions share this host's processors.
    const bool is_cause = !lossy && (slow_one_way || both.rdma);
    const Severity severity = !slow ? Severity::kOk : is_cause ? Severity::kWarning : Severity::kInfo;
    const std::string advice = degraded ? advice_of(code)
                               : slow   ? advice_for_slow(mtu, both.rdma, expected.nominal)
                                        : "";
    Finding& finding = add(severity, code, about, std::move(what), advice);
    finding.measured = {{"over", both.over},
                        {"nominal_mbps", has_nominal ? Json(nominal_mbps) : Json(nullptr)},
                        {"least_mbps", has_nominal ? Json(expected.least_mbps) : Json(nullptr)},
                        {"one_way_mbps", one_way ? Json(one_way->to_mbps) : Json(nullptr)},
                        {"to_mbps", both.to_mbps},
                        {"from_mbps", both.from_mbps}};
  }

  void test_cable(TestedCable& cable) {
    const absl::StatusOr<Rates> one_way = measure({cable.ends}, false);
    const absl::StatusOr<Rates> both = one_way.ok() ? measure({cable.ends}, true) : one_way.status();
    if (!both.ok()) return add_untested(cable.about, both.status(), cable.lossy, cable.mtu);
    add_result(cable.about, *one_way, *both, expect(cable.nominal, 1, *both), false, cable.lossy, cable.mtu);
    cable.healthy = findings_.back().severity == Severity::kOk;
  }

  const TestedCable* find(const routing::Topology& topology, routing::CableIndex cable, routing::NodeIndex node) const {
    const routing::Port& there = topology.port_opposite(cable, node);
    const ProbedCable ends{topology.port_at(cable, node).interface, topology.node(there.node).name, there.interface};
    const auto found =
        std::find_if(cables_.begin(), cables_.end(), [&](const TestedCable& each) { return each.ends == ends; });
    return found == cables_.end() ? nullptr : &*found;
  }

  // Whether one of the chosen cables has a port of this one. Precondition: all lead to one node.
  static bool has_port_of(const std::vector<ProbedCable>& chosen, const ProbedCable& cable) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const ProbedCable& each) {
      return each.interface == cable.interface || each.other_interface == cable.other_interface;
    });
  }

  void test_wires(const routing::Topology& topology) {
    const std::optional<routing::NodeIndex> node = topology.find_node(examination_.node);
    if (!node) return;
    for (const routing::PhysicalCable& wire : routing::physical_cables(topology).cables) {
      if (wire.a == *node || wire.b == *node) test_wire(topology, wire, *node);
    }
  }

  // Tests those of its cables that are up, if there are several. A port can be tested with only one cable at a time:
  // where ports end several (a switch), cables that share no port are chosen.
  void test_wire(const routing::Topology& topology, const routing::PhysicalCable& wire, routing::NodeIndex node) {
    std::vector<routing::CableIndex> indices;
    std::vector<ProbedCable> ends;
    bool healthy = true;
    bool known = true;
    bool lossy = false;
    std::uint64_t mtu = 0;
    for (const routing::CableIndex cable : wire.cables) {
      const TestedCable* const tested = find(topology, cable, node);
      if (tested == nullptr || ends.size() == kMaxProbedCables || has_port_of(ends, tested->ends)) continue;
      indices.push_back(cable);
      ends.push_back(tested->ends);
      healthy = healthy && tested->healthy;
      known = known && tested->both_known;
      lossy = lossy || tested->lossy;
      mtu = tested->mtu;
    }
    if (ends.size() < 2) return;
    std::vector<std::string> interfaces;
    interfaces.reserve(ends.size());
    for (const ProbedCable& each : ends) interfaces.push_back(each.interface);
    std::sort(interfaces.begin(), interfaces.end());
    const std::string about = absl::StrCat("plug ", absl::StrJoin(interfaces, "+"), " to node ", ends.front().node);
    const absl::StatusOr<Rates> both = measure(ends, true);
    if (!both.ok()) return add_untested(about, both.status(), lossy, mtu);
    const std::uint64_t nominal = known ? expected_wire_mbps(topology, indices) : 0;
    add_result(about, std::nullopt, *both, expect({nominal}, ends.size(), *both), healthy, lossy, mtu);
  }

  const SpeedExamination& examination_;
  const CableTest& test_;
  std::vector<TestedCable> cables_;
  std::vector<Finding> findings_;
};

}  // namespace

Finding stalled_finding(const std::string& about, const absl::Status& why, const Json& port) {
  return stalled(about, why, port.value("mtu", kJumboMtu));
}

std::vector<Finding> examine_speed(const SpeedExamination& examination, const CableTest& test) {
  return SpeedTest(examination, test).run();
}

}  // namespace cableway::cli
