#include "sim/simtest/plan/shrink.h"

#include <algorithm>
#include <utility>

namespace cableway::sim {

FaultPlan shrink(FaultPlan plan, std::size_t most, const std::function<bool(const FaultPlan&)>& fails) {
  std::size_t asked = 0;
  if (!plan.empty() && most > 0 && fails({})) return {};
  // Tries to leave out parts of this size, one after the other; if none can be left out, halves the size.
  for (std::size_t size = std::max<std::size_t>(plan.size() / 2, 1); !plan.empty();) {
    bool smaller = false;
    for (std::size_t begin = 0; begin < plan.size() && asked < most;) {
      FaultPlan rest(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(begin));
      const std::size_t end = std::min(begin + size, plan.size());
      rest.insert(rest.end(), plan.begin() + static_cast<std::ptrdiff_t>(end), plan.end());
      ++asked;
      if (fails(rest)) {
        plan = std::move(rest);
        smaller = true;
      } else {
        begin = end;
      }
    }
    if (asked >= most || (size == 1 && !smaller)) break;
    size = std::min(std::max<std::size_t>(size / 2, 1), std::max<std::size_t>(plan.size(), 1));
  }
  return plan;
}

}  // namespace cableway::sim
