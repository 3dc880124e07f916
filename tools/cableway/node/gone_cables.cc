#include "tools/cableway/node/gone_cables.h"

#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/node/node_query.h"

namespace cableway::cli {
namespace {

GoneEnd read_gone_end(const Json& json) {
  return {.node = text(json, "node"),
          .interface = text(json, "interface"),
          .address = text(json, "address"),
          .plug = text(json, "plug")};
}

GoneCables read_gone_cables(const Json& view) {
  GoneCables gone;
  for (const Json& json : view.at("gone")) {
    const Json& ends = json.at("ends");
    gone.push_back({.name = text(json, "name"),
                    .a = read_gone_end(ends.at(0)),
                    .b = read_gone_end(ends.at(1)),
                    .rate_mbps = number(json, "rate_mbps"),
                    .since = text(json, "since")});
  }
  return gone;
}

Json gone_end_json(const GoneEnd& end) {
  return {{"node", end.node}, {"interface", end.interface}, {"address", end.address}, {"plug", end.plug}};
}

}  // namespace

std::optional<GoneCables> find_gone_cables(const Settings& settings, const routing::Topology& topology,
                                           std::chrono::milliseconds deadline) {
  const absl::StatusOr<NodeView> view = ask_node(settings, "gone", deadline);
  if (!view.ok()) return std::nullopt;
  absl::StatusOr<GoneCables> gone = read_answer<GoneCables>(view->text, "gone", read_gone_cables);
  if (!gone.ok()) return std::nullopt;
  std::erase_if(*gone, [&](const GoneCable& cable) { return topology.find_plugged(cable.name) != nullptr; });
  return *std::move(gone);
}

Json gone_cables_json(const std::optional<GoneCables>& gone) {
  if (!gone) return {};
  Json list = Json::array();
  for (const GoneCable& cable : *gone) {
    list.push_back({{"name", cable.name},
                    {"ends", Json::array({gone_end_json(cable.a), gone_end_json(cable.b)})},
                    {"rate_mbps", cable.rate_mbps},
                    {"since", cable.since}});
  }
  return list;
}

}  // namespace cableway::cli
