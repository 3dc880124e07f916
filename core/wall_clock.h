// The time of day, for display, and to tell boot nonces that no clock can have made: it may jump, so nothing else
// depends on it. core/linux/os/wall_clock.h is the real one; the simulator's starts at a fixed day and advances with
// its clock.
#ifndef CABLEWAY_CORE_WALL_CLOCK_H_
#define CABLEWAY_CORE_WALL_CLOCK_H_

#include <chrono>
#include <functional>
#include <string>

namespace cableway {

using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;  // UTC
using WallClock = std::function<WallTime()>;

// RFC 3339, UTC: "2026-03-01T12:34:56.789Z".
std::string rfc3339(WallTime time);

}  // namespace cableway

#endif  // CABLEWAY_CORE_WALL_CLOCK_H_
