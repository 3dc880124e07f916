// Measured against nominal cable rates: the part of doctor.h that sends data.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_SPEED_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_SPEED_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/session/session_message.h"
#include "tools/cableway/doctor/doctor.h"

namespace cableway::cli {

using CableTest = std::function<absl::StatusOr<CableProbeReply>(const CableProbeRequest&)>;

// Tests each cable of `ports` (as in core/view/ports_view.h) that is up, one after the other: half a second one way,
// then half a second both ways at once. One TCP connection cannot fill a cable of 100 Gbit/s, so no more than 20 Gbit/s
// are expected.
std::vector<Finding> examine_speed(const Json& ports, const CableTest& test);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_SPEED_H_
