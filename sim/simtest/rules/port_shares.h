// Rule 11: alternates put almost nothing on ports that flows' own paths use (docs/decisions/0022), as the stamps of
// ports tell (core/gate/port_stamps.h).
//
// A source reads the stamp before each chunk that it gives to an alternate. A relay withholds nothing: when its port
// comes into use, the chunks that each alternate has on its way still follow. The gate then stays closed until the port
// has been quiet for a while, so that this happens once per time of use.
#ifndef CABLEWAY_SIM_SIMTEST_RULES_PORT_SHARES_H_
#define CABLEWAY_SIM_SIMTEST_RULES_PORT_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/clock.h"
#include "core/gate/port_stamps.h"
#include "sim/simtest/rules/rules.h"

namespace cableway::sim {

class PortShares {
 public:
  // A node, and the interface of one of its ports.
  using Place = std::pair<std::size_t, std::string>;
  using PageOf = std::function<PortStampPage&(std::size_t node)>;

  // A port is judged if alternates use it and it has carried at least this many bytes while in use, over all flows.
  static constexpr std::uint64_t kLeastJudged = 256U << 10;
  // At most this percentage of those bytes may be those of alternates, beyond what the alternates had on their way.
  static constexpr std::uint64_t kMostPercent = 2;

  // `on_its_way`: the most that an alternate has on its way, in bytes.
  PortShares(const Clock& clock, PageOf page_of, std::uint64_t on_its_way)
      : clock_(clock), page_of_(std::move(page_of)), on_its_way_(on_its_way) {}

  // A chunk is put on the port by a flow's source, or by a relay for the circuit with that number. `competes`: the
  // circuit is on a flow's own path.
  void source_puts(const Place& place, bool competes, std::uint64_t bytes) { put(place, nullptr, competes, bytes); }
  void relay_puts(const Place& place, std::uint64_t circuit, bool competes, std::uint64_t bytes) {
    put(place, &circuit, competes, bytes);
  }

  void check(RuleBook& rules) const;

  // The sums over the ports that are judged.
  struct Sum {
    std::uint64_t ports = 0;
    std::uint64_t bytes = 0;       // of flows' own paths, and of alternates while a port was in use
    std::uint64_t alternates = 0;  // of these, those of alternates
  };
  Sum judged() const;

 private:
  struct Followed {
    std::uint64_t use = 0;
    std::uint64_t bytes = 0;  // in that time of use
  };
  struct Port {
    std::uint64_t own = 0;       // bytes
    std::uint64_t in_use = 0;    // of alternates, while it was in use
    std::uint64_t too_many = 0;  // of these, beyond what was on its way
    bool has_alternates = false;
    std::uint64_t use = 0;                      // times of use so far
    Instant until;                              // of the present one, as far as it was seen
    std::map<std::uint64_t, Followed> follows;  // by circuit of the relay
  };

  void put(const Place& place, const std::uint64_t* relayed, bool competes, std::uint64_t bytes);
  static bool is_judged(const Port& port) { return port.has_alternates && port.own + port.in_use >= kLeastJudged; }

  const Clock& clock_;
  const PageOf page_of_;
  const std::uint64_t on_its_way_;
  std::map<Place, Port> ports_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_RULES_PORT_SHARES_H_
