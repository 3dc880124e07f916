// The tuner's table is what the simulator predicts now.
#include "nccl_adapter/algorithm/tree_sizes.h"

#include <gtest/gtest.h>

#include <iterator>
#include <vector>

#include "tools/tuner/tree_sizes_model.h"

namespace cableway::tuner_model {
namespace {

TEST(TreeSizes, AreThoseThatTheSimulatorPredicts) {
  const absl::StatusOr<std::vector<nccl::TreeSizes>> predicted = predicted_tree_sizes();
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  const std::vector<nccl::TreeSizes> table(std::begin(nccl::kTreeSizes), std::end(nccl::kTreeSizes));
  EXPECT_EQ(header_text(table), header_text(*predicted))
      << "generate it again, as tools/tuner/main.cc says, and measure: tools/bench.sh tuner";
}

}  // namespace
}  // namespace cableway::tuner_model
