#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/linux/allocation_counter.h"
#include "tests/core/rdma/rdma_circuit.h"

namespace cableway {
namespace {

constexpr std::uint32_t kCountedChunk = 4096;
constexpr std::size_t kCountedMessages = 8;

// A flow through one relay that keeps some messages in flight, in preallocated memory.
class CountedFlow {
 public:
  CountedFlow()
      : from_(kCountedMessages * kMessageBytes),
        to_(kCountedMessages * kMessageBytes),
        readable_(circuit_.source_device().register_memory(from_)),
        writable_(circuit_.destination_device().register_writable(to_)) {}

  void turn(bool posts) {
    while (posts && receiver_.next() - done_ < kCountedMessages) {
      const std::size_t at = receiver_.next() % kCountedMessages * kMessageBytes;
      ASSERT_TRUE(receiver_.post(Landing{&to_[at], kMessageBytes, writable_.keys().remote}).ok());
      ASSERT_TRUE(sender_.post(SendBuffer{&from_[at], readable_.keys().local}, kMessageBytes).ok());
    }
    ASSERT_TRUE(sender_.progress().ok());
    ASSERT_TRUE(circuit_.relays()[0]->progress().ok());
    ASSERT_TRUE(receiver_.progress().ok());
    network_.deliver_all();
    while (done_ < sender_.next() && sender_.done(done_) && receiver_.done(done_)) ++done_;
  }
  // Makes the relay return its leases; the next turns lease again.
  void tick() {
    for (int i = 0; i < 1000 && circuit_.relays()[0]->leases() > 0; ++i) {
      turn(false);
      circuit_.relays()[0]->tick();
    }
  }
  std::uint64_t done() const { return done_; }
  const RelayCircuit& relay() { return *circuit_.relays()[0]; }
  const absl::Status& misuse() const { return network_.misuse(); }

 private:
  static constexpr std::size_t kMessageBytes = 10 * kCountedChunk;

  sim::StubNetwork network_;
  test::RdmaCircuit circuit_{network_, 1, 7, 7, kCountedChunk};
  FlowSender sender_{circuit_.source(), kCountedChunk};
  FlowReceiver receiver_{circuit_.destination()};
  std::vector<std::byte> from_;
  std::vector<std::byte> to_;
  const sim::StubMemory readable_;
  const sim::StubMemory writable_;
  std::uint64_t done_ = 0;
};

TEST(RdmaNoAllocation, NothingIsAllocatedWhileDataMoves) {
  CountedFlow flow;
  flow.turn(true);
  const std::uint64_t before = host::test::allocations();
  std::size_t returned = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 500; ++i) flow.turn(true);
    EXPECT_GT(flow.relay().leases(), 0U);
    flow.tick();
    if (flow.relay().leases() == 0) ++returned;
  }
  EXPECT_EQ(host::test::allocations(), before);
  EXPECT_EQ(returned, 20U);
  EXPECT_GT(flow.done(), 500U);
  EXPECT_GT(flow.relay().chunks_relayed(), 5000U);
  EXPECT_TRUE(flow.misuse().ok()) << flow.misuse();
}

}  // namespace
}  // namespace cableway
