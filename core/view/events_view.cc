#include "core/view/events_view.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

namespace cableway {

std::string events_view(const Node& node) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (const Event& event : node.events().events()) {
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(node.now() - event.at).count();
    events.push_back({{"number", event.number}, {"age_ms", age}, {"text", event.text}});
  }
  // A text, as not every reader of JSON has 64 bits for a number.
  const nlohmann::ordered_json view = {{"node", node.identity().name},
                                       {"cluster", node.identity().cluster},
                                       {"life", std::to_string(node.events().life())},
                                       {"events", events}};
  // A name that is not UTF-8 is shown with replacement characters; the default is to throw.
  return view.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace cableway
