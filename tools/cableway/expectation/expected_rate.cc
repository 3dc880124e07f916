#include "tools/cableway/expectation/expected_rate.h"

#include <optional>

namespace cableway::cli {
namespace {

struct SeenCable {
  const routing::Port* here = nullptr;
  const routing::Port* there = nullptr;
  std::uint64_t rate_mbps = 0;
};

// From the end at `node`; nullopt: it does not join these two.
std::optional<SeenCable> seen_from(const routing::Topology& topology, const routing::Cable& cable,
                                   const std::string& node, const std::string& other) {
  const auto is = [&](const routing::Port& port, const std::string& name) {
    return topology.node(port.node).name == name;
  };
  if (is(cable.a, node) && is(cable.b, other)) return SeenCable{&cable.a, &cable.b, cable.rate_mbps};
  if (is(cable.b, node) && is(cable.a, other)) return SeenCable{&cable.b, &cable.a, cable.rate_mbps};
  return std::nullopt;
}

}  // namespace

std::uint64_t expected_rate_mbps(const routing::Topology& expected, const std::string& node, const ProbedCable& cable) {
  const auto stated = [](std::uint64_t rate) { return rate == routing::kDefaultRateMbps ? 0 : rate; };
  std::uint64_t of_all = 0;  // 0: none yet
  bool differ = false;
  bool has_interface = false;
  for (const routing::Cable& each : expected.plugged_cables()) {
    const std::optional<SeenCable> seen = seen_from(expected, each, node, cable.node);
    if (!seen) continue;
    const bool is_here = seen->here->interface == cable.interface;
    const bool is_there = seen->there->interface == cable.other_interface;
    if (is_here && is_there) return stated(seen->rate_mbps);
    has_interface = has_interface || is_here || is_there;
    differ = differ || (of_all != 0 && of_all != seen->rate_mbps);
    of_all = seen->rate_mbps;
  }
  return differ || has_interface ? 0 : stated(of_all);
}

}  // namespace cableway::cli
