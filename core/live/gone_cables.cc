#include "core/live/gone_cables.h"

#include <algorithm>
#include <utility>

#include "core/live/map_json.h"

namespace cableway {
namespace {

bool went_earlier(const GoneCable& one, const GoneCable& other) {
  return one.gone_at < other.gone_at;
}

}  // namespace

void GoneCables::learn(const routing::Topology& topology, Instant now, WallTime time) {
  Cables present;
  if (can_be_drawn(topology)) {
    for (const routing::Cable& cable : topology.plugged_cables()) {
      present.emplace(cable.name, GoneCable{.cable = cable,
                                            .node_a = topology.node(cable.a.node).name,
                                            .node_b = topology.node(cable.b.node).name,
                                            .twins = {},
                                            .gone_at = {},
                                            .gone_since = {}});
    }
    lose(present, now, time);
  }
  present_ = std::move(present);
  std::erase_if(gone_, [&](const auto& entry) {
    return topology.find_plugged(entry.first) != nullptr || now - entry.second.gone_at >= kKept;
  });
  while (gone_.size() > kMost) forget_one();
}

void GoneCables::lose(const Cables& present, Instant now, WallTime time) {
  for (const auto& [name, cable] : present_) {
    if (present.contains(name)) continue;
    GoneCable gone = cable;
    gone.twins = twins_of(cable);
    gone.gone_at = now;
    gone.gone_since = time;
    gone_.insert_or_assign(name, std::move(gone));
  }
}

std::vector<std::string> GoneCables::twins_of(const GoneCable& cable) const {
  std::vector<std::string> twins;
  if (cable.cable.a.plug.empty() || cable.cable.b.plug.empty()) return twins;
  for (const auto& [name, other] : present_) {
    const bool shares = other.node_a == cable.node_a && other.node_b == cable.node_b &&
                        other.cable.a.plug == cable.cable.a.plug && other.cable.b.plug == cable.cable.b.plug;
    if (shares && name != cable.cable.name && twins.size() < kMostTwins) twins.push_back(name);
  }
  return twins;
}

void GoneCables::forget_one() {
  gone_.erase(std::min_element(gone_.begin(), gone_.end(), [](const auto& one, const auto& other) {
    return went_earlier(one.second, other.second);
  }));
}

std::vector<GoneCable> GoneCables::list(Instant now) const {
  std::vector<GoneCable> listed;
  for (const auto& [name, cable] : gone_) {
    if (now - cable.gone_at < kKept) listed.push_back(cable);
  }
  std::stable_sort(listed.begin(), listed.end(), went_earlier);
  return listed;
}

}  // namespace cableway
