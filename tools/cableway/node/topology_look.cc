#include "tools/cableway/node/topology_look.h"

#include <utility>

#include "tools/cableway/node/topology_source.h"

namespace cableway::cli {

TopologyLook::TopologyLook(Look look, std::optional<routing::Topology> topology)
    : topology_(std::move(topology)), look_(look) {
  if (!topology_) return;
  names_.emplace(*topology_);
  look_.names = &*names_;
}

std::unique_ptr<const TopologyLook> look_with_names(const Settings& settings, std::chrono::milliseconds deadline,
                                                    const Look& look) {
  absl::StatusOr<KnownTopology> known = find_topology(settings, "", deadline);
  return std::make_unique<const TopologyLook>(look,
                                              known.ok() ? std::optional(std::move(known->topology)) : std::nullopt);
}

}  // namespace cableway::cli
