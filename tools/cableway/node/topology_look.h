// The look of text about the node here, with the names that its topology gives to cables.
#ifndef CABLEWAY_TOOLS_CABLEWAY_NODE_TOPOLOGY_LOOK_H_
#define CABLEWAY_TOOLS_CABLEWAY_NODE_TOPOLOGY_LOOK_H_

#include <chrono>
#include <memory>
#include <optional>

#include "core/settings/settings.h"
#include "routing/topology/short_cable_names.h"
#include "routing/topology/topology.h"
#include "tools/cableway/text/look.h"

namespace cableway::cli {

class TopologyLook {
 public:
  // Without a topology cables have their full names: an error of the node costs no more than the short ones.
  TopologyLook(Look look, std::optional<routing::Topology> topology);
  TopologyLook(const TopologyLook&) = delete;
  TopologyLook& operator=(const TopologyLook&) = delete;

  // This outlives it.
  const Look& look() const { return look_; }

 private:
  const std::optional<routing::Topology> topology_;
  std::optional<routing::ShortCableNames> names_;
  Look look_;
};

// With the topology of the node here, which it asks.
std::unique_ptr<const TopologyLook> look_with_names(const Settings& settings, std::chrono::milliseconds deadline,
                                                    const Look& look);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_NODE_TOPOLOGY_LOOK_H_
