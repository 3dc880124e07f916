// How fast the cables are against how fast they should be: the part of doctor.h that sends data.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_SPEED_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_SPEED_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/session/session_message.h"
#include "tools/cableway/doctor/doctor.h"

namespace cableway::cli {

using CableTest = std::function<absl::StatusOr<CableProbeReply>(const CableProbeRequest&)>;

// Each cable of `ports` (as core/view/ports_view.h has them) that is up, one after the other: half a second one way,
// then half a second both ways at once. One TCP connection fills no cable of 100 Gbit/s, so no more than 20 Gbit/s are
// expected.
std::vector<Finding> examine_speed(const Json& ports, const CableTest& test);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_SPEED_H_
