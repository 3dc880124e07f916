// One carrier: a range of a message is given to a circuit only once every other circuit that has carried it is fenced
// at the destination (docs/decisions/0015).
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_CARRIER_RULE_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_CARRIER_RULE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/flow/chunk_link.h"
#include "core/flow/circuit_name.h"
#include "core/flow/frame.h"

namespace cableway::sim {

class CarrierRule {
 public:
  // Whether the circuit is alive at the destination.
  using Lives = std::function<bool(const CircuitName&)>;

  explicit CarrierRule(Lives lives) : lives_(std::move(lives)) {}

  // The chunk is given to the circuit. Returns a circuit that breaks the rule, if there is one.
  std::optional<CircuitName> give(const CircuitName& circuit, const Frame& chunk) {
    if (chunk.message >= kMaxLandings) given_.erase(given_.begin(), given_.lower_bound(chunk.message - kMaxLandings));
    std::vector<Given>& others = given_[chunk.message];
    const std::uint64_t end = chunk.offset + chunk.payload;
    std::optional<CircuitName> breaks;
    for (const Given& other : others) {
      const bool overlaps = (chunk.offset < other.end && other.begin < end) || (chunk.size == 0);
      if (overlaps && (other.circuit == circuit || lives_(other.circuit))) breaks = other.circuit;
    }
    others.push_back({circuit, chunk.offset, end});
    return breaks;
  }

 private:
  struct Given {
    CircuitName circuit;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  const Lives lives_;
  std::map<std::uint64_t, std::vector<Given>> given_;  // by message; those that may be unfinished
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_CARRIER_RULE_H_
