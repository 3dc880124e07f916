// The tuner's table is what the simulator predicts now.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tools/tuner/tree_sizes_model.h"

namespace cableway::tuner_model {
namespace {

TEST(TreeSizes, AreThoseThatTheSimulatorPredicts) {
  const absl::StatusOr<std::vector<nccl::TreeSizes>> predicted = predicted_tree_sizes();
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  std::ifstream file(CABLEWAY_TREE_SIZES);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, header_text(*predicted)) << "write it anew, as tools/tuner/main.cc has it, and measure: "
                                              "tools/bench.sh tuner";
}

}  // namespace
}  // namespace cableway::tuner_model
