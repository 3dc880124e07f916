// Findings about TCP over cables that are up: hellos are UDP, and pass where a firewall drops TCP. Circuits need both.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_REACH_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_REACH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/doctor_speed.h"

namespace cableway::cli {

inline constexpr std::uint32_t kReachMs = 1;

// "cable eth1 to node n1", as in findings about it.
std::string about_cable(const ProbedCable& cable);

// A failed test means that circuits fail, too, unless tests are disabled there or another test is running.
bool stops_circuits(const absl::Status& status);

// Whether the data of a test did not arrive in time, over a connection that had opened.
bool is_stalled(const absl::Status& status);

// Opens the connection of a test of kReachMs over each cable of `ports` (core/view/ports_view.h) that is up, one after
// the other. One finding for each cable over which that fails twice.
std::vector<Finding> examine_reach(const Json& ports, const CableTest& test);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_REACH_H_
