// The newest events of a node, for a page.
#ifndef CABLEWAY_CORE_LIVE_LOG_JSON_H_
#define CABLEWAY_CORE_LIVE_LOG_JSON_H_

#include <cstddef>
#include <string>

#include "core/event/event_log.h"

namespace cableway {

inline constexpr std::size_t kMaxLogEvents = 60;

// Newest first, none for maintainers (debug). Members as in the view `events`, without their fields and age, so that
// it changes only when there is a new one.
std::string log_json(const EventLog& events);

}  // namespace cableway

#endif  // CABLEWAY_CORE_LIVE_LOG_JSON_H_
