#include "sim/simtest/plan/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace cableway::sim {
namespace {

FaultPlan numbered(std::uint32_t count) {
  FaultPlan plan(count);
  for (std::uint32_t i = 0; i < count; ++i) plan[i].target = i;
  return plan;
}

bool has(const FaultPlan& plan, std::uint32_t target) {
  return std::any_of(plan.begin(), plan.end(), [&](const Fault& fault) { return fault.target == target; });
}

TEST(Shrink, FindsTheTwoFaultsThatMatter) {
  for (std::uint32_t a = 0; a < 16; ++a) {
    for (std::uint32_t b = a + 1; b < 16; ++b) {
      const FaultPlan small =
          shrink(numbered(16), 1000, [&](const FaultPlan& plan) { return has(plan, a) && has(plan, b); });
      ASSERT_EQ(small.size(), 2U);
      EXPECT_EQ(small[0].target, a);
      EXPECT_EQ(small[1].target, b);
    }
  }
}

TEST(Shrink, RemovesAllFaultsIfNoneMatters) {
  EXPECT_TRUE(shrink(numbered(9), 1000, [](const FaultPlan&) { return true; }).empty());
}

TEST(Shrink, RespectsTheLimitOfRuns) {
  std::size_t asked = 0;
  const FaultPlan all = numbered(40);
  const FaultPlan small = shrink(all, 5, [&](const FaultPlan& plan) {
    ++asked;
    return plan.size() == all.size();
  });
  EXPECT_LE(asked, 6U);
  EXPECT_EQ(small, all);
}

}  // namespace
}  // namespace cableway::sim
