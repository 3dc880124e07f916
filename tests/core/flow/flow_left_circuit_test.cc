// How a flow's destination calls the end of a circuit over relays: left by its source, or lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/flow/memory_circuit.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kLeavingChunk = 1024;

// A flow with a circuit over two relays and another one, over one relay.
class LeftCircuitTest : public testing::Test {
 protected:
  LeftCircuitTest() {
    for (test::MemoryCircuit* circuit : {&first_, &second_}) {
      const CircuitName name = sender_.reserve().value_or(CircuitName{});
      EXPECT_TRUE(sender_.join(name, circuit->source(), "node n0", kLeavingChunk).ok());
      EXPECT_TRUE(receiver_.join(name, circuit->destination(), "node n3").ok());
    }
  }

  // Nothing passes over the second circuit: what the source says over it comes later.
  void run_first() {
    for (int i = 0; i < 10; ++i) {
      for (const auto& end : first_.ends()) end->step();
      for (const auto& relay : first_.relays()) relay->progress().IgnoreError();
      EXPECT_TRUE(receiver_.progress().ok());
    }
  }

  SlotPool pool_{sim::make_memory_slots(0, kLeavingChunk), 0};
  test::MemoryCircuit first_{2, pool_, kLeavingChunk};
  test::MemoryCircuit second_{1, pool_, kLeavingChunk};
  FlowSender sender_;
  FlowReceiver receiver_;
};

TEST_F(LeftCircuitTest, WhatItsSourceHasLeftIsClosedAlsoBeforeTheSourceSaysSo) {
  sender_.end_circuit({0, 1}, absl::CancelledError("another path is as good"));
  run_first();
  ASSERT_FALSE(receiver_.is_live({0, 1}));
  EXPECT_EQ(receiver_.end_in(0).kind, CircuitEndKind::kClosed) << receiver_.end_in(0).reason;
  EXPECT_EQ(receiver_.end_in(0).reason,
            "relay, upstream: the peer closed the connection, which is the circuit's source");
}

TEST_F(LeftCircuitTest, WhatARelayThatHasEndedClosesIsLost) {
  first_.ends()[2]->fence();  // that of the first relay
  run_first();
  ASSERT_FALSE(receiver_.is_live({0, 1}));
  EXPECT_EQ(receiver_.end_in(0).kind, CircuitEndKind::kFailed);
  EXPECT_EQ(receiver_.end_in(0).reason, "relay, upstream: the peer closed the connection");
}

TEST_F(LeftCircuitTest, WhatItsSourceHasLostIsLost) {
  sender_.end_circuit({0, 1}, absl::UnavailableError("the cable was pulled"));
  run_first();
  ASSERT_FALSE(receiver_.is_live({0, 1}));
  EXPECT_EQ(receiver_.end_in(0).kind, CircuitEndKind::kFailed);
  EXPECT_THAT(receiver_.end_in(0).reason, HasSubstr("the cable was pulled"));
}

}  // namespace
}  // namespace cableway
