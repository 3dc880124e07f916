// Compares measured with expected rates of cables: the part of doctor.h that sends data.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_SPEED_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_SPEED_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/session/session_message.h"
#include "routing/topology/topology.h"
#include "tools/cableway/doctor/doctor.h"

namespace cableway::cli {

// Measures the cables of the request at the same time. An error concerns all of them.
using CableTest = std::function<absl::StatusOr<CableProbeReply>(const CableProbeRequest&)>;

// The share of its rate that a healthy cable carries over RDMA, in both directions at once, with packets of kFullPacket
// bytes. Less is expected with smaller packets, since more of the rate is headers. Degraded cables carry 0.6 of their
// rate or less, and may be healthy one way.
inline constexpr double kLeastShare = 0.95;
inline constexpr std::uint32_t kFullPacket = 4096;

struct SpeedExamination {
  std::string node;                             // this node's name
  const Json& ports;                            // as in core/view/ports_view.h
  const routing::Topology* topology = nullptr;  // null: not known, and plugs are not tested
  double least_share = kLeastShare;             // over RDMA
  std::vector<ProbedCable> unreachable = {};    // cables that are not tested
  // Its rates replace those of the ports. Null: none is expected.
  const routing::Topology* expected = nullptr;
};

// Of a cable over which the data of a test did not arrive in time: `why` (is_stalled(), doctor_reach.h). `port`: of
// core/view/ports_view.h.
Finding stalled_finding(const std::string& about, const absl::Status& why, const Json& port);

// Tests each cable that is up, one after the other: half a second one way, then half a second both ways at once; and
// each wire with several cables (a split plug's), half a second over all of them both ways at once. One TCP connection
// cannot fill a fast cable, so a cable whose hops use TCP is expected to carry 0.7 of its rate, or of 20 Gbit/s if
// that is less.
std::vector<Finding> examine_speed(const SpeedExamination& examination, const CableTest& test);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_SPEED_H_
