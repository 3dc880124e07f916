// A reader polls receives while they land, line by line as NCCL's LL128 does: each line's flag comes last, and nothing
// is written once a message is done. Meanwhile healthy circuits under load are retired, by either end or by both at
// once, and replaced: over RDMA on stub devices, over TCP's contract in memory, and mixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "sim/cable/memory_chunk_link.h"
#include "tests/core/flow/flow_script.h"
#include "tests/core/rdma/rdma_circuit.h"
#include "tests/slow_build.h"

namespace cableway {
namespace {

constexpr std::uint32_t kPolledSeeds = test::cases_here(60U);  // times three mixes
constexpr std::size_t kPolledMessages = 20;
constexpr std::size_t kPolledChunk = 512;
constexpr std::size_t kPolledLive = 3;

enum class Mix : std::uint8_t { kTcp, kRdma, kMixed };

// The memory of messages stays registered, so that only fences keep late writes out.
class KeptKeys final : public test::MessageKeys {
 public:
  KeptKeys(sim::StubDevice& source, sim::StubDevice& destination) : source_(source), destination_(destination) {}

  std::uint32_t key_to_send(std::uint64_t, std::span<const std::byte> bytes) override {
    return kept_.emplace_back(source_.register_memory(bytes)).keys().local;
  }
  std::uint32_t key_to_receive(std::uint64_t, std::span<std::byte> room) override {
    return kept_.emplace_back(destination_.register_writable(room)).keys().remote;
  }
  void sent(std::uint64_t) override {}
  void received(std::uint64_t) override {}

 private:
  sim::StubDevice& source_;
  sim::StubDevice& destination_;
  std::vector<sim::StubMemory> kept_;
};

class PolledWorld {
 public:
  PolledWorld(Mix mix, std::uint32_t seed)
      : random_(seed),
        mix_(mix),
        bundle_(seed % 2),
        striping_{.small_message = kPolledChunk, .chunk_bytes = 128U << random_() % 3},
        network_({.seed = seed, .max_late_writes = RdmaQueuePair::kMaxWrites}),
        sender_(nullptr, striping_),
        receiver_(striping_),
        keys_(source_, destination_),
        script_(sender_, receiver_, test::random_sizes(random_, kPolledMessages, kPolledChunk), seed, &keys_),
        retires_every_(20 + random_() % 300) {}

  void step() {
    switch (random_() % 8) {
      case 0:
        script_.post_send();
        break;
      case 1:
        script_.post_receive();
        break;
      case 2:
        status_.Update(sender_.progress());
        break;
      case 3:
        status_.Update(receiver_.progress());
        break;
      case 4:
        if (sender_.live() < kPolledLive) set_up();
        break;
      default:
        move();
        lines_read_ += script_.read_lines();
    }
    if (random_() % retires_every_ == 0) retire();
    script_.notice_done();
    script_.check_order();
  }
  bool failed() const { return !status_.ok() || testing::Test::HasFailure(); }

  std::mt19937 random_;
  const Mix mix_;
  const std::uint32_t bundle_;  // 0: chunks go over one circuit at a time
  const Striping striping_;
  sim::StubNetwork network_;
  sim::StubDevice& source_ = network_.add_device();
  sim::StubDevice& destination_ = network_.add_device();
  FlowSender sender_;
  FlowReceiver receiver_;
  KeptKeys keys_;
  test::FlowScript script_;
  const std::size_t retires_every_;
  absl::Status status_;
  std::size_t lines_read_ = 0;

 private:
  struct Circuit {
    CircuitName name;
    std::unique_ptr<test::RdmaHop> over_rdma;
    std::unique_ptr<sim::MemoryChunkLink> source;
    std::unique_ptr<sim::MemoryChunkLink> destination;
  };

  void set_up() {
    const auto name = sender_.reserve();
    if (!name.has_value()) return;
    Circuit& circuit = circuits_.emplace_back();
    circuit.name = *name;
    const bool over_rdma = mix_ == Mix::kRdma || (mix_ == Mix::kMixed && random_() % 2 == 0);
    if (over_rdma) {
      circuit.over_rdma = std::make_unique<test::RdmaHop>(network_, source_, destination_, 0, true);
      join(*name, *circuit.over_rdma->sending, *circuit.over_rdma->receiving);
    } else {
      std::tie(circuit.source, circuit.destination) = sim::MemoryChunkLink::make_pair();
      join(*name, *circuit.source, *circuit.destination);
    }
  }
  void join(const CircuitName& name, ChunkLink& source, ChunkLink& destination) {
    EXPECT_TRUE(receiver_.join(name, destination, "").ok());
    receiver_.stripe(name, bundle_, CircuitShare::kBundle);
    EXPECT_TRUE(sender_.join(name, source, "", 128U << random_() % 3).ok());
    sender_.stripe(name, bundle_, CircuitShare::kBundle);
  }
  void move() {
    if (random_() % 2 == 0 && network_.step()) return;
    for (Circuit& circuit : circuits_) {
      if (circuit.source != nullptr) (random_() % 2 == 0 ? circuit.source : circuit.destination)->step();
    }
  }
  void retire() {
    for (const Circuit& circuit : circuits_) {
      if (!sender_.is_live(circuit.name) || !receiver_.is_live(circuit.name) || random_() % 2 == 0) continue;
      const absl::Status verdict = absl::UnavailableError("it was wrongly found to be dead");
      const std::size_t who = random_() % 3;
      if (who != 0) sender_.end_circuit(circuit.name, verdict);
      if (who != 1) receiver_.end_circuit(circuit.name, verdict);
      return;
    }
  }

  std::list<Circuit> circuits_;
};

const char* name_of(const testing::TestParamInfo<Mix>& mix) {
  constexpr const char* kNames[] = {"Tcp", "Rdma", "Mixed"};
  return kNames[static_cast<std::size_t>(mix.param)];
}

// Shows that the test below can fail.
TEST(PolledReceive, AReaderNoticesAFlagBeforeItsData) {
  const test::SentMessage message(0, 3 * kLineBytes);
  test::ReceivedMessage received(message.size());
  const auto land = [&](std::size_t begin, std::size_t bytes) {
    std::copy_n(message.bytes().begin() + static_cast<std::ptrdiff_t>(begin), bytes,
                received.room().begin() + static_cast<std::ptrdiff_t>(begin));
  };
  land(kLineBytes, 2 * kLineBytes);
  EXPECT_EQ(received.lines_read(0, message.size()), 2U);
  land(kLineBytes - 8, 8);
  EXPECT_EQ(received.lines_read(0, message.size()), std::nullopt);
}

class PolledReceives : public testing::TestWithParam<Mix> {};

INSTANTIATE_TEST_SUITE_P(Over, PolledReceives, testing::Values(Mix::kTcp, Mix::kRdma, Mix::kMixed), name_of);

TEST_P(PolledReceives, ShowEachLinesFlagLastWhileHealthyCircuitsAreRetired) {
  std::uint64_t retired = 0;
  std::uint64_t again = 0;
  std::size_t lines = 0;
  for (std::uint32_t seed = 0; seed < kPolledSeeds; ++seed) {
    SCOPED_TRACE(seed);
    PolledWorld world(GetParam(), seed);
    for (std::size_t steps = 0; !world.script_.finished() && !world.failed() && steps < 500'000; ++steps) world.step();
    ASSERT_TRUE(world.status_.ok()) << world.status_;
    ASSERT_TRUE(world.script_.finished()) << "stuck after " << world.script_.receives_done() << " messages";
    for (int i = 0; i < 500; ++i) world.step();
    EXPECT_TRUE(world.script_.no_late_writes());
    EXPECT_TRUE(world.network_.misuse().ok()) << world.network_.misuse();
    if (HasFailure()) return;
    retired += world.sender_.circuits_ended();
    again += world.sender_.traffic().bytes_again();
    lines += world.lines_read_;
  }
  RecordProperty("circuits_retired", std::to_string(retired));
  RecordProperty("bytes_sent_again", std::to_string(again));
  RecordProperty("lines_read", std::to_string(lines));
  EXPECT_GT(retired, 2U * kPolledSeeds);
  EXPECT_GT(again, 500U * kPolledSeeds);
  EXPECT_GT(lines, 1000U * kPolledSeeds);
}

}  // namespace
}  // namespace cableway
