// Circuits of one relay that lease slots from one pool: when a circuit leases, when it returns, and that it works
// without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "core/relay/relay_circuit.h"
#include "sim/cable/memory_chunk_link.h"
#include "tests/core/flow/flow_script.h"
#include "tests/core/flow/memory_circuit.h"
#include "tests/core/flow/message_buffers.h"

namespace cableway {
namespace {

constexpr std::uint32_t kSlotBytes = 256;
constexpr std::uint64_t kChunks = 1000;  // of the one message that each circuit carries

class NullSink final : public ChunkLink::Sink {
 public:
  absl::Status on_landed(const Frame&) override { return absl::OkStatus(); }
  absl::Status on_chunk(const Frame&, Slot&) override { return absl::OkStatus(); }
  absl::Status on_control(const Frame&) override { return absl::OkStatus(); }
  void on_sent(Slot*) override {}
};

// A circuit whose ends the test plays.
class Circuit {
 public:
  explicit Circuit(SlotPool& pool) : memory_(1, pool, kSlotBytes) {
    EXPECT_TRUE(memory_.destination().post_landing(0, landing_.landing()).ok());
  }
  RelayCircuit& relay() { return *memory_.relays()[0]; }
  sim::MemoryChunkLink& upstream() { return *memory_.ends()[1]; }
  sim::MemoryChunkLink& downstream() { return *memory_.ends()[2]; }

  // Receives as many chunks as there are slots for, and forwards none.
  void fill() {
    do {
      EXPECT_TRUE(relay().progress().ok());
    } while (arrive());
  }
  // Forwards all chunks in the relay, and receives none.
  void empty() {
    do {
      EXPECT_TRUE(memory_.destination().progress(sink_).ok());
      EXPECT_TRUE(relay().progress().ok());
    } while (downstream().step());
  }
  bool arrive() {
    EXPECT_TRUE(memory_.source().progress(sink_).ok());
    if (memory_.source().can_send()) {
      const Frame chunk{FrameKind::kChunk, kSlotBytes, 0, next_++ * kSlotBytes, kChunks * kSlotBytes};
      memory_.source().send(chunk, payload_.buffer());
    }
    return memory_.source().step();
  }
  void tick(std::uint32_t times = 1) {
    for (std::uint32_t i = 0; i < times; ++i) relay().tick();
  }
  bool wide() { return upstream().wide() && downstream().wide(); }
  bool narrow() { return !upstream().wide() && !downstream().wide(); }

 private:
  test::MemoryCircuit memory_;
  test::ReceivedMessage landing_{kChunks * kSlotBytes};
  const test::SentMessage payload_{0, kSlotBytes};
  std::uint64_t next_ = 0;
  NullSink sink_;
};

TEST(RelayLease, IsLeasedByACircuitWithoutASlotToOffer) {
  SlotPool pool(sim::make_memory_slots(5, kSlotBytes), 2);
  Circuit circuit(pool);
  EXPECT_TRUE(circuit.relay().progress().ok());
  EXPECT_EQ(circuit.relay().leases(), 0U);
  EXPECT_TRUE(circuit.narrow());
  ASSERT_TRUE(circuit.arrive());
  EXPECT_TRUE(circuit.relay().progress().ok());
  EXPECT_EQ(circuit.relay().leases(), 1U);
  EXPECT_EQ(circuit.upstream().slots_posted(), 1U);
  EXPECT_TRUE(circuit.wide());
  circuit.fill();
  EXPECT_EQ(circuit.relay().leases(), 2U) << "the maximum of one circuit";
  EXPECT_EQ(circuit.relay().slots_in_use(), 3U);
  EXPECT_EQ(pool.leased(), 2U);
}

TEST(RelayLease, IsNotWaitedForByACircuitWithALease) {
  SlotPool pool(sim::make_memory_slots(1, kSlotBytes), 2);
  Circuit circuit(pool);
  circuit.fill();
  EXPECT_EQ(circuit.relay().leases(), 1U);
  EXPECT_FALSE(pool.wanted());
}

TEST(RelayLease, IsReturnedByAnIdleCircuit) {
  SlotPool pool(sim::make_memory_slots(2, kSlotBytes), 2);
  Circuit circuit(pool);
  circuit.fill();
  circuit.empty();
  circuit.tick();  // something moved before this one
  circuit.tick(RelayCircuit::kIdleTicks - 1);
  EXPECT_EQ(circuit.relay().leases(), 2U);
  EXPECT_TRUE(circuit.wide());
  circuit.tick();
  EXPECT_EQ(circuit.relay().leases(), 0U);
  EXPECT_TRUE(circuit.narrow());
  EXPECT_EQ(circuit.upstream().slots_posted(), 1U) << "the floor stays";
  EXPECT_EQ(pool.leased(), 0U);
  // And it may lease them again.
  circuit.fill();
  EXPECT_EQ(circuit.relay().leases(), 2U);
}

TEST(RelayLease, IsKeptWhileDataMoves) {
  SlotPool pool(sim::make_memory_slots(1, kSlotBytes), 1);
  Circuit circuit(pool);
  for (std::uint32_t i = 0; i < 5 * (RelayCircuit::kIdleTicks + RelayCircuit::kHeldTicks); ++i) {
    circuit.fill();
    circuit.empty();
    circuit.tick();
    EXPECT_EQ(circuit.relay().leases(), 1U) << i;
  }
}

TEST(RelayLease, IsKeptWhileAChunkIsStalled) {
  SlotPool pool(sim::make_memory_slots(1, kSlotBytes), 1);
  Circuit circuit(pool);
  circuit.fill();
  circuit.tick(10 * RelayCircuit::kIdleTicks);
  EXPECT_EQ(circuit.relay().leases(), 1U);
  EXPECT_TRUE(circuit.wide());
}

TEST(RelayLease, IsReturnedOnlyAfterTheLinksQueuesDrain) {
  for (const bool upstream : {true, false}) {
    SlotPool pool(sim::make_memory_slots(1, kSlotBytes), 1);
    Circuit circuit(pool);
    circuit.fill();
    circuit.empty();
    sim::MemoryChunkLink& link = upstream ? circuit.upstream() : circuit.downstream();
    link.hold_queue(true);
    circuit.tick(3 * RelayCircuit::kIdleTicks);
    EXPECT_TRUE(circuit.narrow());
    EXPECT_EQ(pool.leased(), 1U);
    // Meanwhile the circuit continues with its floor.
    circuit.fill();
    EXPECT_EQ(circuit.relay().slots_in_use(), 1U);
    circuit.empty();
    link.hold_queue(false);
    circuit.tick();
    EXPECT_EQ(pool.leased(), 0U);
  }
}

TEST(RelayLease, IsPassedBetweenBusyCircuits) {
  SlotPool pool(sim::make_memory_slots(1, kSlotBytes), 1);
  Circuit first(pool);
  Circuit second(pool);
  first.fill();
  second.fill();
  EXPECT_EQ(first.relay().leases(), 1U);
  EXPECT_EQ(second.relay().leases(), 0U);
  EXPECT_TRUE(pool.wanted());
  for (std::uint32_t i = 0; i < RelayCircuit::kHeldTicks - 1; ++i) {
    first.tick();
    EXPECT_TRUE(first.wide()) << "it has not held it long enough";
  }
  first.tick();
  EXPECT_EQ(pool.leased(), 1U) << "a chunk is in its leased slot";
  first.empty();
  first.tick();
  EXPECT_EQ(first.relay().leases(), 0U);
  first.fill();
  EXPECT_EQ(first.relay().leases(), 0U) << "the waiting circuit comes first";
  EXPECT_TRUE(second.relay().progress().ok());
  EXPECT_EQ(second.relay().leases(), 1U);
  EXPECT_FALSE(pool.wanted());
  // And the other way around.
  first.tick();
  EXPECT_TRUE(first.relay().progress().ok());
  EXPECT_TRUE(pool.wanted());
  second.tick(RelayCircuit::kHeldTicks);
  second.empty();
  second.tick();
  EXPECT_TRUE(first.relay().progress().ok());
  EXPECT_EQ(first.relay().leases(), 1U);
}

TEST(RelayLease, ThatIsNotReturnedIsCountedOnForALimitedTime) {
  SlotPool pool(sim::make_memory_slots(2, kSlotBytes), 1);
  Circuit stuck(pool);
  Circuit busy(pool);
  Circuit waiting(pool);
  stuck.fill();
  busy.fill();
  waiting.fill();
  busy.tick(RelayCircuit::kHeldTicks - 1);
  stuck.tick(RelayCircuit::kHeldTicks);  // it should return its lease, but a chunk stays in the leased slot
  for (std::uint32_t i = 0; i < RelayCircuit::kReturnTicks - 1; ++i) {
    stuck.tick();
    busy.tick();
    EXPECT_FALSE(pool.wanted()) << "one circuit waits, and one slot is being returned";
  }
  stuck.tick();
  EXPECT_TRUE(pool.wanted());
  busy.tick();
  busy.empty();
  busy.tick();
  EXPECT_EQ(busy.relay().leases(), 0U);
  EXPECT_TRUE(waiting.relay().progress().ok());
  EXPECT_EQ(waiting.relay().leases(), 1U);
  // The late return is not counted again.
  stuck.empty();
  stuck.tick();
  EXPECT_EQ(stuck.relay().leases(), 0U);
  EXPECT_EQ(pool.leased(), 1U);
  EXPECT_FALSE(pool.wanted());
  Circuit next(pool);
  next.fill();
  EXPECT_EQ(next.relay().leases(), 1U);
  Circuit last(pool);
  last.fill();
  EXPECT_TRUE(pool.wanted()) << "no slot is being returned any more";
}

TEST(RelayLease, IsReturnedByNoMoreCircuitsThanWait) {
  SlotPool pool(sim::make_memory_slots(3, kSlotBytes), 1);
  std::vector<std::unique_ptr<Circuit>> holders;
  holders.reserve(3);
  for (int i = 0; i < 3; ++i) {
    holders.push_back(std::make_unique<Circuit>(pool));
    holders.back()->fill();
  }
  Circuit waiting(pool);
  waiting.fill();
  for (std::uint32_t i = 0; i < RelayCircuit::kHeldTicks + 1; ++i) {
    for (const auto& holder : holders) {
      holder->tick();
      holder->empty();  // so that the circuit can return its lease
      holder->fill();
    }
  }
  EXPECT_EQ(pool.leased(), 2U);
  EXPECT_TRUE(waiting.relay().progress().ok());
  EXPECT_EQ(waiting.relay().leases(), 1U);
  EXPECT_FALSE(pool.anyone_waits());
}

TEST(RelayLease, IsReturnedAtOnceByAnIdleCircuitIfOthersWait) {
  SlotPool pool(sim::make_memory_slots(1, kSlotBytes), 1);
  Circuit idle(pool);
  idle.fill();
  idle.empty();
  idle.tick();
  Circuit busy(pool);
  busy.fill();
  idle.tick();
  EXPECT_EQ(idle.relay().leases(), 0U);
  EXPECT_TRUE(busy.relay().progress().ok());
  EXPECT_EQ(busy.relay().leases(), 1U);
}

TEST(RelayLease, IsNoLongerWaitedForByACircuitThatDoesNotNeedIt) {
  SlotPool pool({}, 1);
  Circuit circuit(pool);
  circuit.fill();
  circuit.fill();
  EXPECT_EQ(pool.waits(), 1U) << "one wait for several attempts to lease";
  circuit.empty();
  circuit.tick();
  circuit.tick();
  EXPECT_FALSE(pool.wanted());
}

TEST(RelayLease, IsReturnedWhenTheCircuitEnds) {
  SlotPool pool(sim::make_memory_slots(2, kSlotBytes), 1);
  auto failed = std::make_unique<Circuit>(pool);
  auto dropped = std::make_unique<Circuit>(pool);
  Circuit waiting(pool);
  failed->fill();
  dropped->fill();
  waiting.fill();
  EXPECT_EQ(pool.leased(), 2U);
  failed->relay().fail(absl::UnavailableError("the cable was pulled"));
  EXPECT_EQ(pool.leased(), 1U);
  failed.reset();
  dropped.reset();
  EXPECT_EQ(pool.leased(), 0U);
  waiting.relay().fail(absl::UnavailableError("the cable was pulled"));
  EXPECT_FALSE(pool.wanted());
}

// Whole flows of many circuits that share a pool of any size, in an order of events that a seed chooses.
class Crowd {
 public:
  Crowd(std::size_t circuits, std::size_t leases, std::uint32_t seed)
      : random_(seed), pool_(sim::make_memory_slots(leases, kSlotBytes), 1 + random_() % 3) {
    members_.reserve(circuits);
    for (std::size_t i = 0; i < circuits; ++i) members_.push_back(std::make_unique<Member>(*this, i));
  }

  void step() {
    Member& member = *members_[random_() % members_.size()];
    const auto& ends = member.circuit.ends();
    switch (random_() % 8) {
      case 0:
        member.script.post_send();
        break;
      case 1:
        member.script.post_receive();
        break;
      case 2:
        status_.Update(member.sender.progress());
        break;
      case 3:
        status_.Update(member.receiver.progress());
        break;
      case 4:
        if (random_() % 4 == 0) member.circuit.relays()[random_() % 2]->tick();
        break;
      case 5:
        status_.Update(member.circuit.relays()[random_() % 2]->progress().status());
        break;
      default:
        ends[random_() % ends.size()]->step();
    }
    member.script.notice_done();
    member.script.check_order();
  }
  bool finished() const {
    return std::all_of(members_.begin(), members_.end(), [](const auto& member) { return member->script.finished(); });
  }
  bool at_rest() const {
    return pool_.leased() == 0 && !pool_.wanted() &&
           std::all_of(members_.begin(), members_.end(), [](const auto& member) { return member->circuit.at_rest(); });
  }
  std::size_t leases() const {
    std::size_t sum = 0;
    for (const auto& member : members_) {
      for (const auto& relay : member->circuit.relays()) sum += relay->leases();
    }
    return sum;
  }
  const absl::Status& status() const { return status_; }
  const SlotPool& pool() const { return pool_; }
  bool no_late_writes() const {
    return std::all_of(members_.begin(), members_.end(),
                       [](const auto& member) { return member->script.no_late_writes(); });
  }

 private:
  struct Member {
    Member(Crowd& crowd, std::size_t number)
        : circuit(2, crowd.pool_, kSlotBytes),
          sender(circuit.source(), kSlotBytes),
          receiver(circuit.destination()),
          script(sender, receiver, test::random_sizes(crowd.random_, 12, kSlotBytes),
                 static_cast<std::uint32_t>(number)) {}
    test::MemoryCircuit circuit;
    FlowSender sender;
    FlowReceiver receiver;
    test::FlowScript script;
  };

  std::mt19937 random_;
  SlotPool pool_;
  std::vector<std::unique_ptr<Member>> members_;
  absl::Status status_;
};

class RelayLeaseCrowd : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Leases, RelayLeaseCrowd, testing::Values(0, 1, 3, 48));

TEST_P(RelayLeaseCrowd, EveryByteArrivesAndEverySlotIsReturned) {
  constexpr std::size_t kCircuits = 8;
  constexpr int kMaxSteps = 4'000'000;
  std::size_t contended = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Crowd crowd(kCircuits, GetParam(), seed);
    int steps = 0;
    for (; steps < kMaxSteps && !crowd.finished() && crowd.status().ok(); ++steps) {
      crowd.step();
      if (steps % 64 == 0) {
        ASSERT_EQ(crowd.leases(), crowd.pool().leased());
      }
    }
    ASSERT_TRUE(crowd.status().ok()) << crowd.status();
    ASSERT_TRUE(crowd.finished()) << "stuck";
    for (int i = 0; i < kMaxSteps && !crowd.at_rest(); ++i) crowd.step();
    EXPECT_TRUE(crowd.at_rest());
    EXPECT_TRUE(crowd.no_late_writes());
    EXPECT_LE(crowd.pool().max_leased(), GetParam());
    if (crowd.pool().waits() > 0) ++contended;
    if (HasFailure()) return;
  }
  EXPECT_EQ(contended, GetParam() <= 3 ? 20U : 0U) << "the pool should be too small, or large enough";
}

}  // namespace
}  // namespace cableway
