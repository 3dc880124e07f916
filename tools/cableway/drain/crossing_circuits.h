// The circuits that lead through the node here, or over one of its cables, as the node's status has them.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DRAIN_CROSSING_CIRCUITS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DRAIN_CROSSING_CIRCUITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cableway/drain/drain_target.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {

struct CrossingCircuits {
  std::uint64_t circuits = 0;
  // Open circuits that the status does not list; each of them may cross the target, too.
  std::uint64_t not_listed = 0;
  std::vector<std::string> paths = {};  // of the circuits, the first ones

  bool none() const { return circuits == 0 && not_listed == 0; }
};

inline constexpr std::size_t kMaxCrossingPaths = 8;

// For a node: the circuits that it relays; flows of its own processes go on while it drains. For a cable: both. What
// processes report of their flows is up to a second old. Throws Json::exception if a field is missing or of another
// type.
CrossingCircuits crossing_circuits(const Json& status, const DrainTarget& target);

// "2 circuits", "1 circuit, and 3 that are not listed".
std::string describe(const CrossingCircuits& crossing);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DRAIN_CROSSING_CIRCUITS_H_
