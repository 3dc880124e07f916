// Cables and relays of paths on which a circuit has ended or could not be set up. It is not known which of them is at
// fault, so a flow tries paths first that have none of them, then those whose failure is longest ago.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_SUSPECTS_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_SUSPECTS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/circuit/hop.h"
#include "core/clock.h"

namespace cableway {

// The names of a path's cables, and of the nodes between its ends: "c0", "n1", "c1".
std::vector<std::string> elements_of_path(const std::vector<Hop>& hops);

class Suspects {
 public:
  void add(const std::vector<std::string>& elements, Instant now);
  // When an element of the path last failed; Instant{} if none has.
  Instant last_failure(const std::vector<std::string>& elements) const;

 private:
  // Failures beyond it are forgotten, the oldest first.
  static constexpr std::size_t kMax = 256;

  std::map<std::string, Instant> failed_at_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_SUSPECTS_H_
