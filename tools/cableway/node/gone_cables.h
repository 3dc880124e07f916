// The cables that the node's topology had and no longer has.
#ifndef CABLEWAY_TOOLS_CABLEWAY_NODE_GONE_CABLES_H_
#define CABLEWAY_TOOLS_CABLEWAY_NODE_GONE_CABLES_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/settings/settings.h"
#include "routing/topology/topology.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {

struct GoneEnd {
  std::string node;
  std::string interface;  // "": not known
  std::string address;
  std::string plug;
};

struct GoneCable {
  std::string name;
  GoneEnd a;
  GoneEnd b;
  std::uint64_t rate_mbps = 0;  // as it was last
  std::string since;            // RFC 3339
};
using GoneCables = std::vector<GoneCable>;  // in the order in which they went

// Asks the node that runs here. `topology`, just read from it, excludes cables that are back. nullopt: no node answers
// within `deadline`, or its version has no such view.
std::optional<GoneCables> find_gone_cables(const Settings& settings, const routing::Topology& topology,
                                           std::chrono::milliseconds deadline);

// name, ends (two of node, interface, address, plug), rate_mbps, since; null for nullopt
Json gone_cables_json(const std::optional<GoneCables>& gone);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_NODE_GONE_CABLES_H_
