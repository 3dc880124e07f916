#include "tools/cableway/node/lost_cables.h"

#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/node/node_query.h"

namespace cableway::cli {
namespace {

LostEnd read_lost_end(const Json& json) {
  return {.node = text(json, "node"),
          .interface = text(json, "interface"),
          .address = text(json, "address"),
          .plug = text(json, "plug")};
}

LostCables read_lost_cables(const Json& view) {
  LostCables lost;
  for (const Json& json : view.at("gone")) {
    const Json& ends = json.at("ends");
    lost.push_back({.name = text(json, "name"),
                    .a = read_lost_end(ends.at(0)),
                    .b = read_lost_end(ends.at(1)),
                    .rate_mbps = number(json, "rate_mbps"),
                    .since = text(json, "since")});
  }
  return lost;
}

Json lost_end_json(const LostEnd& end) {
  return {{"node", end.node}, {"interface", end.interface}, {"address", end.address}, {"plug", end.plug}};
}

}  // namespace

std::optional<LostCables> find_lost_cables(const Settings& settings, const routing::Topology& topology,
                                           std::chrono::milliseconds deadline) {
  const absl::StatusOr<NodeView> view = ask_node(settings, "gone", deadline);
  if (!view.ok()) return std::nullopt;
  absl::StatusOr<LostCables> lost = read_answer<LostCables>(view->text, "gone", read_lost_cables);
  if (!lost.ok()) return std::nullopt;
  std::erase_if(*lost, [&](const LostCable& cable) { return topology.find_plugged(cable.name) != nullptr; });
  return *std::move(lost);
}

Json lost_cables_json(const std::optional<LostCables>& lost) {
  if (!lost) return {};
  Json list = Json::array();
  for (const LostCable& cable : *lost) {
    list.push_back({{"name", cable.name},
                    {"ends", Json::array({lost_end_json(cable.a), lost_end_json(cable.b)})},
                    {"rate_mbps", cable.rate_mbps},
                    {"since", cable.since}});
  }
  return list;
}

}  // namespace cableway::cli
