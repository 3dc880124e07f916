// Whole flows over zero to three relays in memory, in an order of events that a seed chooses: each step runs one random
// participant. Many seeds cover the interleavings of posting, sending, delivering and completing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/flow/flow_script.h"
#include "tests/core/flow/memory_circuit.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kSeeds = 100;  // times four numbers of relays

class World {
 public:
  World(std::size_t relays, std::uint32_t seed)
      : random_(seed),
        chunk_bytes_(128U << random_() % 4),
        pool_(sim::make_memory_slots(random_() % 4, chunk_bytes_), random_() % 3),
        circuit_(relays, pool_, chunk_bytes_),
        sender_(circuit_.source(), chunk_bytes_),
        receiver_(circuit_.destination()),
        messages_(1 + random_() % 60),
        script_(sender_, receiver_, test::random_sizes(random_, messages_, chunk_bytes_), seed),
        eager_(random_() % 8) {}

  // Runs one event of one participant. False once an end has failed.
  bool step() {
    const std::size_t first_end = 4;
    const std::size_t first_relay = first_end + circuit_.ends().size();
    const std::size_t actor = random_() % (first_relay + circuit_.relays().size());
    switch (actor) {
      case 0:
        script_.post_send();
        break;
      case 1:
        // Some applications post their receives long after the sends.
        if (random_() % 8 <= eager_) script_.post_receive();
        break;
      case 2:
        sender_status_ = sender_.progress();
        break;
      case 3:
        receiver_status_ = receiver_.progress();
        break;
      default:
        if (actor < first_relay) {
          circuit_.ends()[actor - first_end]->step();
        } else if (random_() % 8 == 0) {
          circuit_.relays()[actor - first_relay]->tick();
        } else {
          relay_status_.Update(circuit_.relays()[actor - first_relay]->progress().status());
        }
    }
    script_.notice_done();
    script_.check_order();
    return sender_status_.ok() && receiver_status_.ok();
  }

  // Generous: an idle participant is chosen as often as one with work.
  std::size_t max_steps() { return 4000 * (messages_ + 10) * (circuit_.ends().size() / 2); }

  std::mt19937 random_;
  const std::uint32_t chunk_bytes_;
  SlotPool pool_;
  test::MemoryCircuit circuit_;
  FlowSender sender_;
  FlowReceiver receiver_;
  const std::size_t messages_;
  test::FlowScript script_;
  const std::uint32_t eager_;
  absl::Status sender_status_;
  absl::Status receiver_status_;
  absl::Status relay_status_;
};

class FlowOverRelays : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Relays, FlowOverRelays, testing::Values(0, 1, 2, 3));

TEST_P(FlowOverRelays, DeliversEveryByteInAnyOrderOfEvents) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    World world(GetParam(), seed);
    std::size_t steps = 0;
    while (!world.script_.finished() && steps < world.max_steps() && world.step()) ++steps;
    ASSERT_TRUE(world.sender_status_.ok()) << world.sender_status_;
    ASSERT_TRUE(world.receiver_status_.ok()) << world.receiver_status_;
    ASSERT_TRUE(world.relay_status_.ok()) << world.relay_status_;
    ASSERT_TRUE(world.script_.finished())
        << "stuck after " << world.script_.receives_done() << " of " << world.messages_ << " messages";
    // A finished flow leaves nothing behind: slots are returned, both ends are idle, no buffer is written any more.
    for (int i = 0; i < 8000 && !(world.circuit_.at_rest() && !world.pool_.wanted()); ++i) world.step();
    EXPECT_TRUE(world.circuit_.at_rest());
    EXPECT_EQ(world.pool_.leased(), 0U);
    EXPECT_FALSE(world.pool_.wanted());
    EXPECT_TRUE(world.sender_.idle());
    EXPECT_TRUE(world.receiver_.idle());
    EXPECT_TRUE(world.script_.no_late_writes());
    if (HasFailure()) return;
  }
}

TEST_P(FlowOverRelays, FailsAtBothEndsWhenAnyHopIsCut) {
  std::size_t cut_under_load = 0;
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    World world(GetParam(), seed);
    const std::size_t until = world.random_() % 3000;
    for (std::size_t i = 0; i < until; ++i) ASSERT_TRUE(world.step());
    if (!world.script_.finished()) ++cut_under_load;
    auto& ends = world.circuit_.ends();
    ends[world.random_() % ends.size()]->cut(absl::UnavailableError("the cable was pulled"));

    // Each end fails independently and sends the reason to the next hop, as its owner would.
    bool sender_failed = false;
    bool receiver_failed = false;
    for (std::size_t i = 0; i < 100 * ends.size() && !(sender_failed && receiver_failed); ++i) {
      if (const absl::Status status = world.sender_.progress(); !status.ok() && !sender_failed) {
        EXPECT_THAT(std::string(status.message()), HasSubstr("the cable was pulled"));
        world.circuit_.source().fail(status.message(), FailureScope::kFlow);
        sender_failed = true;
      }
      if (const absl::Status status = world.receiver_.progress(); !status.ok() && !receiver_failed) {
        EXPECT_THAT(std::string(status.message()), HasSubstr("the cable was pulled"));
        world.circuit_.destination().fail(status.message(), FailureScope::kFlow);
        receiver_failed = true;
      }
      world.script_.notice_done();
      for (const auto& relay : world.circuit_.relays()) relay->progress().IgnoreError();
    }
    ASSERT_TRUE(sender_failed && receiver_failed);

    // Both links are fenced now, so nothing may write into the buffers any more.
    world.script_.reuse_all();
    for (int i = 0; i < 200; ++i) {
      for (const auto& end : ends) end->step();
      for (const auto& relay : world.circuit_.relays()) relay->progress().IgnoreError();
      world.sender_.progress().IgnoreError();
      world.receiver_.progress().IgnoreError();
    }
    EXPECT_TRUE(world.script_.no_late_writes());
    EXPECT_EQ(world.pool_.leased(), 0U) << "a dead circuit holds a slot";
    EXPECT_FALSE(world.pool_.wanted());
    if (HasFailure()) return;
  }
  EXPECT_GT(cut_under_load, kSeeds / 4);
}

}  // namespace
}  // namespace cableway
