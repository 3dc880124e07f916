// Which cables of a node are pulsed, and what the verdicts about them do, on nodes in virtual time.
#include "core/node/cable_verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "sim/nodes/node_world.h"
#include "tests/routing/sample_topologies.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A ring of three nodes, and the verdicts of the first one's pulses.
class CableVerdictsTest : public testing::Test {
 protected:
  CableVerdictsTest() {
    segments = world.build(3, routing::ring_pairs(3));
    world.start_all();
    EXPECT_TRUE(world.settle(5s, [&] { return world.node(0).paths().topology().cable_count() == 3; }));
    verdicts.emplace(world.node(0), CableVerdicts::Listener{[this](const PortLost& port) { lost.push_back(port); },
                                                            [this] { ++usable; }});
  }

  std::vector<PulsedCable> cables() { return pulsed_cables(world.node(0)); }
  std::size_t hops_to_first_neighbour() {
    const PathPlanner& paths = world.node(0).paths();
    const auto offers = paths.paths_for_flow(cables().front().neighbour, 0, 1);
    return offers.ok() ? offers->front().hops.size() : 0;
  }

  sim::NodeWorld world{1};
  std::vector<sim::CableFabric::SegmentNumber> segments;
  std::vector<PortLost> lost;
  int usable = 0;
  std::optional<CableVerdicts> verdicts;
};

TEST_F(CableVerdictsTest, EveryCableThatIsUpIsPulsed) {
  const std::vector<PulsedCable> here = cables();
  ASSERT_EQ(here.size(), 2U);
  for (const PulsedCable& cable : here) {
    EXPECT_TRUE(world.node(0).paths().topology().find_cable(cable.name).has_value()) << cable.name;
    EXPECT_EQ(cable.own.node, world.node(0).identity().id());
    EXPECT_TRUE(cable.only_neighbour);
    EXPECT_NE(cable.own_address, cable.other_address);
  }
  // The other end sends what this end expects.
  for (std::size_t other = 1; other < 3; ++other) {
    for (const PulsedCable& there : pulsed_cables(world.node(other))) {
      for (const PulsedCable& cable : here) {
        if (cable.name != there.name) continue;
        EXPECT_EQ(cable.own, there.other);
        EXPECT_EQ(cable.other, there.own);
        EXPECT_EQ(cable.other_boot_nonce, there.own_boot_nonce);
        EXPECT_EQ(cable.other_address.bytes, there.own_address.bytes);
      }
    }
  }
  world.fabric().set_carrier(segments[0], false);
  world.clock().run_for(50ms);
  EXPECT_EQ(cables().size(), 1U);
}

TEST_F(CableVerdictsTest, ASilentCableIsNotUsedAndItsCircuitsEnd) {
  const PulsedCable cable = cables().front();
  ASSERT_EQ(hops_to_first_neighbour(), 1U);
  verdicts->act(cable, {CableTrust::kNone, "the cable is silent"});
  EXPECT_EQ(hops_to_first_neighbour(), 2U);
  EXPECT_THAT(lost, ElementsAre(PortLost{cable.interface, "the cable is silent", false, cable.name, false}));
  EXPECT_EQ(usable, 0);
  // Back, but not yet for long enough: for those that have no other path.
  verdicts->act(cable, {CableTrust::kNone, "pulses arrive again", true});
  EXPECT_EQ(usable, 1);
  EXPECT_EQ(hops_to_first_neighbour(), 2U);
  verdicts->act(cable, {CableTrust::kAll, "pulses have arrived for 200 ms"});
  EXPECT_EQ(usable, 2);
  EXPECT_EQ(hops_to_first_neighbour(), 1U);
  EXPECT_THAT(verdicts->doubted(), IsEmpty());
  EXPECT_EQ(lost.size(), 1U);
}

TEST_F(CableVerdictsTest, ANodeThatStandsStillLosesWhatItRelays) {
  const PulsedCable cable = cables().front();
  verdicts->act(cable, {CableTrust::kDirect, "it stands still"});
  EXPECT_EQ(hops_to_first_neighbour(), 1U);
  EXPECT_THAT(lost, ElementsAre(PortLost{cable.interface, "it stands still", false, cable.name, true}));
  EXPECT_TRUE(verdicts->doubted().at(cable.name).only_relayed);
}

}  // namespace
}  // namespace cableway
