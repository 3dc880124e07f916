// How the thread that moves data over a hop behaves while nothing moves.
#ifndef CABLEWAY_CORE_LINUX_LINK_IDLE_H_
#define CABLEWAY_CORE_LINUX_LINK_IDLE_H_

#include <cstdint>

namespace cableway::host {

// A sleeping thread needs descriptors that wake it (HopLink::completions()).
enum class Idle : std::uint8_t { kPolls, kSleeps };

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_IDLE_H_
