#include "core/live/gone_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "routing/text/json_schema.h"

namespace cableway {
namespace {

nlohmann::ordered_json gone_end_json(const std::string& node, const routing::Port& port) {
  return {{"node", node}, {"interface", port.interface}, {"address", port.address}, {"plug", port.plug}};
}

}  // namespace

std::string gone_json(std::span<const GoneCable> gone) {
  auto cables = nlohmann::ordered_json::array();
  for (const GoneCable& each : gone) {
    cables.push_back({{"name", each.cable.name},
                      {"ends", nlohmann::ordered_json::array({gone_end_json(each.node_a, each.cable.a),
                                                              gone_end_json(each.node_b, each.cable.b)})},
                      {"rate_mbps", each.cable.rate_mbps},
                      {"since", rfc3339(each.gone_since)}});
  }
  const nlohmann::ordered_json view = {{routing::kSchemaMember, routing::kJsonSchema}, {"gone", std::move(cables)}};
  return view.dump();
}

}  // namespace cableway
