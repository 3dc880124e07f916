// Whole flows over RDMA hops on stub devices, with zero to two relays: in an order of events that a seed chooses, with
// ends that close and devices that fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/flow/flow_script.h"
#include "tests/core/rdma/rdma_circuit.h"
#include "tests/slow_build.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kRdmaSeeds = test::cases_here(500);  // times three numbers of relays
constexpr std::size_t kMaxLateWrites = 20;
constexpr std::uint32_t kLostAcknowledgements = 30;  // of 100, by every other seed

// Registers a flow's messages with the devices of its ends until they are done, so that the devices refuse later
// accesses.
class StubMessageKeys final : public test::MessageKeys {
 public:
  StubMessageKeys(sim::StubDevice& source, sim::StubDevice& destination) : source_(source), destination_(destination) {}

  std::uint32_t key_to_send(std::uint64_t message, std::span<const std::byte> bytes) override {
    return sending_.emplace(message, source_.register_memory(bytes)).first->second.keys().local;
  }
  std::uint32_t key_to_receive(std::uint64_t message, std::span<std::byte> room) override {
    return receiving_.emplace(message, destination_.register_writable(room)).first->second.keys().remote;
  }
  void sent(std::uint64_t message) override { sending_.erase(message); }
  void received(std::uint64_t message) override { receiving_.erase(message); }

 private:
  sim::StubDevice& source_;
  sim::StubDevice& destination_;
  std::map<std::uint64_t, sim::StubMemory> sending_;
  std::map<std::uint64_t, sim::StubMemory> receiving_;
};

class RdmaWorld {
 public:
  RdmaWorld(std::size_t relays, std::uint32_t seed)
      : random_(seed),
        chunk_bytes_(128U << random_() % 4),
        network_({.seed = seed,
                  .max_late_writes = kMaxLateWrites,
                  .lost_acknowledgements = seed % 2 == 0 ? 0 : kLostAcknowledgements}),
        circuit_(network_, relays, random_() % 4, random_() % 3, chunk_bytes_),
        sender_(circuit_.source(), chunk_bytes_),
        receiver_(circuit_.destination()),
        messages_(1 + random_() % 60),
        keys_(circuit_.source_device(), circuit_.destination_device()),
        script_(sender_, receiver_, test::random_sizes(random_, messages_, chunk_bytes_), seed, &keys_),
        eager_(random_() % 8) {}

  // Runs one event of one participant. False once one has failed.
  bool step() {
    const std::size_t relays = circuit_.relays().size();
    const std::size_t actor = random_() % (4 + relays + 4 * (relays + 1));
    if (actor == 0) {
      script_.post_send();
    } else if (actor == 1) {
      if (random_() % 8 <= eager_) script_.post_receive();
    } else if (actor == 2) {
      status_.Update(sender_.progress());
    } else if (actor == 3) {
      status_.Update(receiver_.progress());
    } else if (actor >= 4 + relays) {
      network_.step();
    } else if (random_() % 8 == 0) {
      circuit_.relays()[actor - 4]->tick();
    } else {
      status_.Update(circuit_.relays()[actor - 4]->progress().status());
    }
    script_.notice_done();
    script_.check_order();
    return status_.ok();
  }
  std::size_t max_steps() const { return 4000 * (messages_ + 10) * 3; }

  // A finished flow leaves nothing behind: slots are returned, both ends are idle, only mailboxes are still registered.
  void expect_rest() {
    for (int i = 0; i < 20'000 && !circuit_.at_rest(); ++i) ASSERT_TRUE(step());
    EXPECT_TRUE(circuit_.at_rest());
    EXPECT_TRUE(sender_.idle());
    EXPECT_TRUE(receiver_.idle());
    EXPECT_EQ(circuit_.source_device().registrations(), 1U);
    EXPECT_EQ(circuit_.destination_device().registrations(), 1U);
    EXPECT_TRUE(script_.no_late_writes());
    EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
  }

  // Runs each end and relay until it fails, and then lets it leave, as its owner would; some links are notified of
  // lifeline events at once. Returns whether both ends failed.
  bool run_to_the_end() {
    for (std::size_t i = 0; i < 20'000 && (sender_end_.ok() || receiver_end_.ok()); ++i) {
      for (int steps = static_cast<int>(random_() % 4); steps > 0; --steps) network_.step();
      const test::RdmaHop& hop = *circuit_.hops()[random_() % circuit_.hops().size()];
      (random_() % 2 == 0 ? hop.sending : hop.receiving)->on_lifeline();
      if (sender_end_.ok()) sender_end_ = leave_on_failure(sender_.progress(), circuit_.source());
      if (receiver_end_.ok()) receiver_end_ = leave_on_failure(receiver_.progress(), circuit_.destination());
      for (const auto& relay : circuit_.relays()) relay->progress().IgnoreError();
      script_.notice_done();
    }
    return !sender_end_.ok() && !receiver_end_.ok();
  }

  std::mt19937 random_;
  const std::uint32_t chunk_bytes_;
  sim::StubNetwork network_;
  test::RdmaCircuit circuit_;
  FlowSender sender_;
  FlowReceiver receiver_;
  const std::size_t messages_;
  StubMessageKeys keys_;
  test::FlowScript script_;
  const std::uint32_t eager_;
  absl::Status status_;
  absl::Status sender_end_;
  absl::Status receiver_end_;

 private:
  static absl::Status leave_on_failure(const absl::Status& status, RdmaChunkLink& link) {
    if (!status.ok()) link.fail(status.message(), FailureScope::kFlow);
    return status;
  }
};

class RdmaFlow : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Relays, RdmaFlow, testing::Values(0, 1, 2));

TEST_P(RdmaFlow, DeliversEveryByteInAnyOrderOfEvents) {
  for (std::uint32_t seed = 0; seed < kRdmaSeeds; ++seed) {
    SCOPED_TRACE(seed);
    RdmaWorld world(GetParam(), seed);
    std::size_t steps = 0;
    while (!world.script_.finished() && steps < world.max_steps() && world.step()) ++steps;
    ASSERT_TRUE(world.status_.ok()) << world.status_;
    ASSERT_TRUE(world.script_.finished())
        << "stuck after " << world.script_.receives_done() << " of " << world.messages_ << " messages";
    world.expect_rest();
    if (HasFailure()) return;
  }
}

// The last acknowledgement and the end of the connection arrive over two paths, in any order; the devices'
// transport-level acknowledgements may be lost and are then not repeated.
TEST_P(RdmaFlow, EverySendIsDoneAlthoughTheReceiverLeavesOnceItHasAll) {
  for (std::uint32_t seed = 0; seed < kRdmaSeeds / 2; ++seed) {
    SCOPED_TRACE(seed);
    RdmaWorld world(GetParam(), seed);
    std::size_t steps = 0;
    while (!world.receiver_.idle() || world.script_.receives_done() < world.messages_) {
      ASSERT_LT(++steps, world.max_steps());
      ASSERT_TRUE(world.step()) << world.status_;
    }
    world.circuit_.destination().fence();
    world.receiver_end_ = absl::CancelledError("it has all");
    ASSERT_TRUE(world.run_to_the_end());
    EXPECT_TRUE(world.script_.finished()) << world.sender_end_;
    EXPECT_TRUE(world.sender_.idle());
    EXPECT_TRUE(world.script_.no_late_writes());
    EXPECT_TRUE(world.network_.misuse().ok()) << world.network_.misuse();
    if (HasFailure()) return;
  }
}

TEST_P(RdmaFlow, FailsAtBothEndsWhenADeviceFails) {
  std::size_t failed_under_load = 0;
  for (std::uint32_t seed = 0; seed < kRdmaSeeds / 2; ++seed) {
    SCOPED_TRACE(seed);
    RdmaWorld world(GetParam(), seed);
    const std::size_t until = world.random_() % 3000;
    for (std::size_t i = 0; i < until; ++i) ASSERT_TRUE(world.step()) << world.status_;
    if (!world.script_.finished()) ++failed_under_load;
    const auto& hops = world.circuit_.hops();
    const test::RdmaHop& hop = *hops[world.random_() % hops.size()];
    sim::StubQueuePair& pair = world.random_() % 2 == 0 ? *hop.near_pair : *hop.far_pair;
    pair.fail(absl::InternalError("device fatal"));

    ASSERT_TRUE(world.run_to_the_end());
    // The other end of the hop may find its writes unacknowledged before it receives the reason.
    const auto names_the_fault = testing::AnyOf(HasSubstr("device fatal"), HasSubstr("does not answer"));
    EXPECT_THAT(std::string(world.sender_end_.message()), names_the_fault);
    EXPECT_THAT(std::string(world.receiver_end_.message()), names_the_fault);
    // Both links are fenced now, so nothing may write into the buffers any more.
    world.script_.reuse_all();
    for (int i = 0; i < 500; ++i) world.network_.step();
    EXPECT_TRUE(world.script_.no_late_writes());
    EXPECT_TRUE(world.network_.misuse().ok()) << world.network_.misuse();
    for (std::size_t i = 0; i < GetParam(); ++i) EXPECT_EQ(world.circuit_.pool(i).leased(), 0U);
    if (HasFailure()) return;
  }
  EXPECT_GT(failed_under_load, kRdmaSeeds / 8);
}

// A write that fails halfway, somewhere on the path: the part that has landed is never reported.
TEST_P(RdmaFlow, FailsAtBothEndsWhenAWriteFailsHalfway) {
  std::size_t failed_under_load = 0;
  for (std::uint32_t seed = 0; seed < kRdmaSeeds / 2; ++seed) {
    SCOPED_TRACE(seed);
    RdmaWorld world(GetParam(), seed);
    const auto& hops = world.circuit_.hops();
    hops[world.random_() % hops.size()]->near_pair->fail_write(world.random_() % 200, "retries exceeded");
    std::size_t steps = 0;
    while (!world.script_.finished() && steps < world.max_steps() && world.step()) ++steps;
    if (world.script_.finished()) continue;
    ++failed_under_load;
    ASSERT_FALSE(world.status_.ok());
    ASSERT_TRUE(world.run_to_the_end() || !world.status_.ok());
    EXPECT_THAT(std::string(world.status_.message()),
                testing::AnyOf(HasSubstr("retries exceeded"), HasSubstr("does not answer")));
    world.circuit_.source().fail("gone", FailureScope::kFlow);
    world.circuit_.destination().fail("gone", FailureScope::kFlow);
    world.script_.reuse_all();
    for (int i = 0; i < 500; ++i) world.network_.step();
    EXPECT_TRUE(world.script_.no_late_writes());
    EXPECT_TRUE(world.network_.misuse().ok()) << world.network_.misuse();
    if (HasFailure()) return;
  }
  EXPECT_GT(failed_under_load, kRdmaSeeds / 8);
}

// Every turn delivers all that is posted.
class RdmaNeighbourhood {
 public:
  RdmaNeighbourhood(std::size_t relays, std::uint32_t chunk_bytes, std::vector<std::size_t> sizes)
      : circuit_(network_, relays, 3, 3, chunk_bytes),
        sender_(circuit_.source(), chunk_bytes),
        receiver_(circuit_.destination()),
        keys_(circuit_.source_device(), circuit_.destination_device()),
        script_(sender_, receiver_, std::move(sizes), 1, &keys_) {}

  void turn() {
    EXPECT_TRUE(sender_.progress().ok());
    EXPECT_TRUE(receiver_.progress().ok());
    for (const auto& relay : circuit_.relays()) EXPECT_TRUE(relay->progress().ok());
    network_.deliver_all();
  }

  sim::StubNetwork network_;
  test::RdmaCircuit circuit_;
  FlowSender sender_;
  FlowReceiver receiver_;
  StubMessageKeys keys_;
  test::FlowScript script_;
};

TEST_P(RdmaFlow, DeliversEverySize) {
  constexpr std::uint32_t kChunk = 4096;
  const std::vector<std::size_t> sizes{
      0, 1, 127, 128, 129, kChunk - 1, kChunk, kChunk + 1, 2 * kChunk, 3 * kChunk + 77, 40 * kChunk - 1};
  RdmaNeighbourhood world(GetParam(), kChunk, sizes);
  while (world.script_.post_receive() || world.script_.post_send()) continue;
  for (int i = 0; i < 1000 && !world.script_.finished(); ++i) {
    world.turn();
    world.script_.notice_done();
  }
  EXPECT_TRUE(world.script_.finished());
  EXPECT_TRUE(world.network_.misuse().ok()) << world.network_.misuse();
}

TEST_P(RdmaFlow, HasThirtyTwoMessagesInFlight) {
  constexpr std::uint32_t kChunk = 1024;
  constexpr std::size_t kRounds = 100;
  RdmaNeighbourhood world(GetParam(), kChunk, std::vector<std::size_t>(kRounds * kMaxLandings, 3 * kChunk));
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::size_t posted = 0;
    while (world.script_.post_receive()) ++posted;
    while (world.script_.post_send()) continue;
    ASSERT_EQ(posted, kMaxLandings);
    for (int i = 0; i < 1000 && !(world.sender_.idle() && world.receiver_.idle()); ++i) world.turn();
    world.script_.notice_done();
  }
  EXPECT_TRUE(world.script_.finished());
  EXPECT_TRUE(world.network_.misuse().ok()) << world.network_.misuse();
}

// The acknowledgement may arrive long before the local device completes the write.
TEST_P(RdmaFlow, ASendIsNotDoneWhileItsMemoryMayStillBeRead) {
  RdmaNeighbourhood world(GetParam(), 1024, {3000});
  world.circuit_.hops().front()->near_pair->hold_completions(true);
  world.script_.post_receive();
  world.script_.post_send();
  for (int i = 0; i < 100; ++i) world.turn();
  EXPECT_TRUE(world.receiver_.done(0));
  EXPECT_FALSE(world.sender_.done(0));
  world.circuit_.hops().front()->near_pair->hold_completions(false);
  world.turn();
  world.turn();
  EXPECT_TRUE(world.sender_.done(0));
  world.script_.notice_done();
  EXPECT_TRUE(world.network_.misuse().ok()) << world.network_.misuse();
}

}  // namespace
}  // namespace cableway
