#include "core/live/log_json.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "routing/text/json_schema.h"

namespace cableway {

std::string log_json(const EventLog& events) {
  const std::vector<Event> all = events.events();
  auto newest = nlohmann::ordered_json::array();
  for (auto event = all.rbegin(); event != all.rend() && newest.size() < kMaxLogEvents; ++event) {
    if (event->severity() == EventSeverity::kDebug) continue;
    newest.push_back({{"number", event->number},
                      {"time", rfc3339(event->time)},
                      {"severity", name_of(event->severity())},
                      {"code", kind_of(event->code).name},
                      {"text", event->text}});
  }
  const nlohmann::ordered_json log = {{routing::kSchemaMember, routing::kJsonSchema}, {"events", std::move(newest)}};
  return log.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace cableway
