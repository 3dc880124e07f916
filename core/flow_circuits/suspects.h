// The cables and relays of paths on which a circuit has ended or could not be set up. It is not known which of them
// is at fault. So a flow first tries paths without any of them, then the paths whose elements failed longest ago.
// Among paths that share a failed element, the path whose own last failure is oldest comes first.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_SUSPECTS_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_SUSPECTS_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/circuit/hop.h"
#include "core/clock.h"

namespace cableway {

// The names of a path's cables, and of the nodes between its ends: "c0", "n1", "c1".
std::vector<std::string> elements_of_path(const std::vector<Hop>& hops);

class Suspects {
 public:
  using Path = std::vector<std::string>;  // as returned by elements_of_path()

  // A circuit on `path` has failed; `suspected` of its elements may be at fault.
  void add(const Path& path, const std::vector<std::string>& suspected, Instant now);
  // When a suspected element of the path last failed; Instant{} if none has.
  Instant last_failure(const Path& path) const;
  // The order in which to try paths: the least pair first. The pair is last_failure() and the time when the path
  // itself last failed.
  std::pair<Instant, Instant> order(const Path& path) const;

 private:
  // The maximum number of remembered failures; the oldest are forgotten first.
  static constexpr std::size_t kMost = 256;

  std::map<std::string, Instant> elements_;
  std::map<Path, Instant> paths_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_SUSPECTS_H_
