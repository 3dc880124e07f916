#include "sim/simtest/rules/port_shares.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/gate/port_gate.h"

namespace cableway::sim {
namespace {

constexpr int kPortRule = 11;

}  // namespace

void PortShares::put(const Place& place, const std::uint64_t* relayed, bool competes, std::uint64_t bytes) {
  if (place.second.empty()) return;
  Port& port = ports_[place];
  const Instant now = clock_.now();
  const Instant until = EgressPort(page_of_(place.first), place.second).in_use_until(now);
  if (competes) {
    if (now >= port.until + PortGate::kQuiet) ++port.use;
    port.until = std::max(until, now);
    port.own += bytes;
    return;
  }
  port.has_alternates = true;
  if (until <= now) return;
  port.until = std::max(port.until, until);
  port.in_use += bytes;
  if (relayed == nullptr) {
    port.too_many += bytes;
    return;
  }
  Followed& follows = port.follows[*relayed];
  if (std::exchange(follows.use, port.use) != port.use) follows.bytes = 0;
  const std::uint64_t counted = std::max(follows.bytes, on_its_way_);
  follows.bytes += bytes;
  port.too_many += std::max(follows.bytes, counted) - counted;
}

void PortShares::check(RuleBook& rules) const {
  for (const auto& [place, port] : ports_) {
    const std::uint64_t all = port.own + port.in_use;
    if (!is_judged(port) || 100 * port.too_many <= kMostPercent * all) continue;
    rules.broken(kPortRule, absl::StrCat("alternates have put ", port.in_use, " of ", all, " bytes on port ",
                                         place.second, " of n", place.first, " while it was in use, ", port.too_many,
                                         " of them more than they had on their way"));
  }
}

PortShares::Sum PortShares::judged() const {
  Sum sum;
  for (const auto& [place, port] : ports_) {
    if (!is_judged(port)) continue;
    ++sum.ports;
    sum.bytes += port.own + port.in_use;
    sum.alternates += port.in_use;
  }
  return sum;
}

}  // namespace cableway::sim
