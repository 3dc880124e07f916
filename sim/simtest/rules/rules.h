// The invariants of a simulation test (docs/simtest.md). Cheap ones are checked at every step that could break them,
// the others at the end (node_rules.h).
#ifndef CABLEWAY_SIM_SIMTEST_RULES_RULES_H_
#define CABLEWAY_SIM_SIMTEST_RULES_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/clock.h"

namespace cableway::sim {

struct BrokenRule {
  int rule = 0;  // 1 to 13
  Instant at;
  std::string what;
};

// Stores the first broken rule: later ones are often only consequences.
class RuleBook {
 public:
  explicit RuleBook(const Clock& clock) : clock_(clock) {}

  void broken(int rule, std::string what) {
    if (!first_.has_value()) first_ = BrokenRule{rule, clock_.now(), std::move(what)};
  }
  bool all_hold() const { return !first_.has_value(); }
  const std::optional<BrokenRule>& first() const { return first_; }

 private:
  const Clock& clock_;
  std::optional<BrokenRule> first_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_RULES_RULES_H_
