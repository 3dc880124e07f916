#include "core/circuit/circuit_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "tests/core/event/recorded_events.h"

namespace cableway {
namespace {

CircuitSetup setup_over(std::size_t hops, const std::string& name_tail = "") {
  CircuitSetup setup;
  setup.flow = 0xAB12;
  setup.from_node = "n0";
  for (std::size_t i = 0; i < hops; ++i) {
    setup.hops.push_back({"c" + std::to_string(i), "", "n" + std::to_string(i + 1) + name_tail, "", 7470, false});
  }
  return setup;
}

TEST(CircuitEvents, NameTheWholePathIfItIsShort) {
  EXPECT_EQ(circuit_text(setup_over(2)), "n0 -c0-> n1 -c1-> n2");
}

TEST(CircuitEvents, OmitMiddleNodesOfALongPath) {
  const CircuitSetup setup = setup_over(100, "-with-a-long-name");
  EXPECT_LE(circuit_text(setup).size(), 512U);
  EXPECT_THAT(circuit_text(setup), testing::AllOf(testing::StartsWith("n0 -> n1-with"), testing::HasSubstr("nodes)")));
}

TEST(CircuitEvents, HaveFlowAndEndsAndReason) {
  const EventFields fields = circuit_fields(setup_over(2), absl::UnavailableError("gone"));
  EXPECT_THAT(fields,
              testing::ElementsAre(EventField{"path", "n0 -> n1 -> n2"}, EventField{"flow", "000000000000ab12"},
                                   EventField{"from", "n0"}, EventField{"to", "n2"}, EventField{"reason", "gone"}));
}

}  // namespace
}  // namespace cableway
