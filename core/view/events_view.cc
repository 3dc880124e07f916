#include "core/view/events_view.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "routing/text/json_schema.h"

namespace cableway {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

nlohmann::ordered_json event_json(const Event& event, Instant now) {
  Json fields = Json::object();
  for (const EventField& field : event.fields) fields[field.key] = field.value;
  return {{"number", event.number},
          {"time", rfc3339(event.time)},
          {"age_ms", std::chrono::duration_cast<std::chrono::milliseconds>(now - event.at).count()},
          {"severity", name_of(event.severity())},
          {"code", name_of(event.code)},
          {"fields", fields},
          {"text", event.text}};
}

std::string events_view(const Node& node) {
  Json events = Json::array();
  for (const Event& event : node.events().events()) events.push_back(event_json(event, node.now()));
  Json left_out = Json::object();
  for (const EventKind& kind : event_kinds()) {
    const std::uint64_t number = node.events().left_out(kind.code);
    if (number > 0) left_out[std::string(kind.name)] = number;
  }
  // The incarnation is text, since many JSON readers lack 64-bit integers.
  const Json view = {{routing::kSchemaMember, routing::kJsonSchema},
                     {"node", node.identity().name},
                     {"cluster", node.identity().cluster},
                     {"incarnation", std::to_string(node.events().incarnation())},
                     {"left_out", left_out},
                     {"events", events}};
  // A name that is not UTF-8 is shown with replacement characters; the default is to throw.
  return view.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cableway
