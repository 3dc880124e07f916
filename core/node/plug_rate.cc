#include "core/node/plug_rate.h"

#include <algorithm>
#include <map>
#include <string>

namespace cableway {
namespace {

struct Plug {
  std::uint64_t link_mbps = 0;                  // of the fastest of its links
  std::uint64_t apart_mbps = 0;                 // of its ports without a known root
  std::map<std::string, std::uint64_t> behind;  // of the others, by root

  void add(const PortFacts& port) {
    link_mbps = std::max({link_mbps, port.link_mbps, port.rate_mbps});
    if (port.root.empty() || port.root_mbps == 0) {
      apart_mbps += port.rate_mbps;
      return;
    }
    std::uint64_t& together = behind[port.root];
    together = std::min(together + port.rate_mbps, port.root_mbps);
  }

  std::uint64_t rate_mbps() const {
    std::uint64_t sum = apart_mbps;
    for (const auto& [root, together] : behind) sum += together;
    return std::min(link_mbps, sum);
  }
};

}  // namespace

std::uint64_t fastest_plug_mbps(std::span<const PortFacts> ports) {
  std::map<std::string, Plug> plugs;
  std::uint64_t fastest = 0;
  for (const PortFacts& port : ports) {
    if (port.plug.empty()) {
      fastest = std::max(fastest, port.rate_mbps);
    } else {
      plugs[port.plug].add(port);
    }
  }
  for (const auto& [name, plug] : plugs) fastest = std::max(fastest, plug.rate_mbps());
  return fastest;
}

}  // namespace cableway
