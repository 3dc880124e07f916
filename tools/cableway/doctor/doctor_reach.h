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

// "cable eth1 to node n1", as in findings about it; with " (eth7 there)" where the port has several cables to that
// node, as on a switch. `port` and `neighbour`: one of core/view/ports_view.h, and one of its neighbours.
std::string about_cable(const Json& port, const Json& neighbour);

// Whether it loses packets, as the topology says: that has a finding of its own, and makes it slow.
bool is_lossy(const SpeedExamination& examination, const ProbedCable& cable);

// A failed test means that circuits fail, too, unless tests are disabled there or another test is running.
bool stops_circuits(const absl::Status& status);

// Whether the data of a test did not arrive in time, over a connection that had opened.
bool is_stalled(const absl::Status& status);

struct Reach {
  std::vector<Finding> findings;         // one for each cable over which a test fails twice
  std::vector<ProbedCable> unreachable;  // those over which no connection opens
};

// Opens the connection of a test of kReachMs over each cable that is up, one after the other. `is_all`: no test of
// speed follows, so that data which does not arrive in time has a finding, too, unless the cable loses packets.
Reach examine_reach(const SpeedExamination& examination, const CableTest& test, bool is_all);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_REACH_H_
