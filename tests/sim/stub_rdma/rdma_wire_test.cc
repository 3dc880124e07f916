#include "sim/stub_rdma/rdma_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace cableway::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kMemoryBytes = 1000;

// One end of a pair: polls whenever it is woken, and records when.
class WireEnd final : public LinkUser {
 public:
  WireEnd(VirtualClock& clock, StubNetwork& network)
      : clock_(clock),
        device(network.add_device()),
        memory(kMemoryBytes),
        registered(device.register_writable(memory)),
        pair(network.make_queue_pair(device)) {}

  void wake() override {
    std::array<RdmaCompletion, 4> completions;
    for (;;) {
      const absl::StatusOr<std::size_t> count = pair->poll(completions);
      if (!count.ok()) {
        if (status.ok()) ended = clock_.now().since_start;
        status = count.status();
      }
      if (!count.ok() || *count == 0) return;
      for (std::size_t i = 0; i < *count; ++i) {
        const bool noticed = completions[i].kind == RdmaCompletion::Kind::kNoticed;
        (noticed ? noticed_at : written_at).push_back(clock_.now().since_start);
      }
    }
  }
  // Writes `bytes` of this end's memory to the other's, with a notice there and a completion here.
  void post(const WireEnd& to, std::uint32_t bytes) {
    RdmaWrite write;
    write.data = memory.data();
    write.bytes = bytes;
    write.local_key = registered.keys().local;
    write.to = reinterpret_cast<std::uint64_t>(to.memory.data());
    write.remote_key = to.registered.keys().remote;
    write.notifies = write.reports = true;
    ASSERT_TRUE(pair->post({&write, 1}).ok());
  }

 private:
  VirtualClock& clock_;

 public:
  StubDevice& device;
  std::vector<std::byte> memory;
  StubMemory registered;
  std::unique_ptr<StubQueuePair> pair;
  std::vector<Duration> noticed_at;
  std::vector<Duration> written_at;
  absl::Status status;
  Duration ended{0};
};

// Two ends, and a cable of one byte per nanosecond between them, without packet overhead.
class WireTest : public ::testing::Test {
 protected:
  explicit WireTest(const StubNetwork::Settings& stub = {}, Duration max_lag = Duration{0}) : network_(stub) {
    facts_.latency = 10us;
    facts_.packet_overhead = 0;
    facts_.gives_up_after = 500ms;
    facts_.max_lag = max_lag;
    connect(left_, right_, there_, back_);
    std::fill(left_.memory.begin(), left_.memory.end(), std::byte{7});
  }

  struct Wires {
    Wires(VirtualClock& clock, StubNetwork& network, const RdmaWire::Facts& facts, Transmitter& left,
          Transmitter& right)
        : there(clock, network, facts, left), back(clock, network, facts, right) {}
    RdmaWire there;
    RdmaWire back;
    void hold(bool hold_there, bool hold_back) {
      there.hold(hold_there, hold_back);
      back.hold(hold_back, hold_there);
    }
  };

  void connect(WireEnd& left, WireEnd& right, Transmitter& out, Transmitter& back) {
    wires_.push_back(std::make_unique<Wires>(clock_, network_, facts_, out, back));
    ASSERT_TRUE(left.pair->connect(right.pair->endpoint()).ok());
    ASSERT_TRUE(right.pair->connect(left.pair->endpoint()).ok());
    wires_.back()->there.join(*left.pair, left, *right.pair, right);
    wires_.back()->back.join(*right.pair, right, *left.pair, left);
  }
  // One more pair of ends, over the same cable.
  struct Pair {
    std::unique_ptr<WireEnd> left;
    std::unique_ptr<WireEnd> right;
  };
  Pair another() {
    Pair pair{std::make_unique<WireEnd>(clock_, network_), std::make_unique<WireEnd>(clock_, network_)};
    connect(*pair.left, *pair.right, there_, back_);
    return pair;
  }
  Wires& wires() { return *wires_.front(); }

  VirtualClock clock_;
  RdmaWire::Facts facts_;
  StubNetwork network_;
  Transmitter there_{clock_, 1e9};
  Transmitter back_{clock_, 1e9};
  std::vector<std::unique_ptr<Wires>> wires_;
  WireEnd left_{clock_, network_};
  WireEnd right_{clock_, network_};
};

TEST_F(WireTest, AWriteLandsAndCompletesAfterTheRoundTrip) {
  left_.post(right_, 1000);
  left_.post(right_, 500);
  clock_.run_for(1ms);
  EXPECT_THAT(right_.noticed_at, ElementsAre(11us, 11500ns));
  EXPECT_THAT(left_.written_at, ElementsAre(21us, 21500ns));
  EXPECT_THAT(right_.memory, Each(std::byte{7}));
  EXPECT_TRUE(clock_.idle());
  EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
}

TEST_F(WireTest, CountsPacketOverhead) {
  facts_.packet_payload = 500;
  facts_.packet_overhead = 50;
  const Pair pair = another();
  pair.left->post(*pair.right, 501);
  clock_.run_for(1ms);
  EXPECT_THAT(pair.right->noticed_at, ElementsAre(10us + 601ns));
}

TEST_F(WireTest, PairsOnOneCableAlternate) {
  const Pair other = another();
  for (int i = 0; i < 3; ++i) left_.post(right_, 1000);
  other.left->post(*other.right, 1000);
  clock_.run_for(1ms);
  EXPECT_THAT(right_.noticed_at, ElementsAre(11us, 13us, 14us));
  EXPECT_THAT(other.right->noticed_at, ElementsAre(12us));
}

TEST_F(WireTest, CompletionsAreDelayedAsConfigured) {
  wires().there.complete_late(3ms);
  left_.post(right_, 1000);
  clock_.run_for(1s);
  EXPECT_THAT(right_.noticed_at, ElementsAre(11us));
  EXPECT_THAT(left_.written_at, ElementsAre(3021us));
}

TEST_F(WireTest, DetectsMemoryReusedBeforeALateCompletion) {
  wires().there.complete_late(3ms);
  left_.post(right_, 1000);
  clock_.run_for(1ms);
  left_.memory[5] = std::byte{1};
  clock_.run_for(1s);
  EXPECT_THAT(left_.written_at, IsEmpty());
  EXPECT_FALSE(left_.status.ok());
  EXPECT_EQ(network_.changed_too_early(), 1U);
}

TEST_F(WireTest, HeldTrafficResumesWhenTheCableCarriesAgain) {
  wires().hold(true, false);
  left_.post(right_, 1000);
  left_.post(right_, 1000);
  clock_.run_for(499ms);
  EXPECT_THAT(right_.noticed_at, IsEmpty());
  wires().hold(false, false);
  clock_.run_for(1s);
  EXPECT_THAT(right_.noticed_at, ElementsAre(499ms, 499ms));
  EXPECT_THAT(left_.written_at, ElementsAre(499ms + 10us, 499ms + 10us));
  EXPECT_TRUE(left_.status.ok());
}

TEST_F(WireTest, GivesUpIfTheCableDoesNotCarryForward) {
  wires().hold(true, false);
  left_.post(right_, 1000);
  clock_.run_for(1s);
  EXPECT_THAT(std::string(left_.status.message()), HasSubstr("retry counter exceeded"));
  EXPECT_EQ(left_.ended, 500ms);
  EXPECT_TRUE(right_.status.ok()) << "it has sent nothing";
  wires().hold(false, false);
  clock_.run_for(1s);
  EXPECT_THAT(right_.noticed_at, IsEmpty());
}

TEST_F(WireTest, GivesUpIfTheCableDoesNotCarryBackAlthoughWritesLanded) {
  wires().hold(false, true);
  left_.post(right_, 1000);
  clock_.run_for(1s);
  EXPECT_THAT(right_.noticed_at, ElementsAre(11us));
  EXPECT_THAT(left_.written_at, IsEmpty());
  EXPECT_EQ(left_.ended, 500ms);
}

TEST_F(WireTest, DetectsSilenceOnlyWhileWritesAreOutstanding) {
  left_.post(right_, 1000);
  clock_.run_for(1ms);
  wires().hold(true, true);
  clock_.run_for(1s);
  EXPECT_TRUE(left_.status.ok());
  left_.post(right_, 1000);
  clock_.run_for(1s);
  EXPECT_EQ(left_.ended, 1001ms + 500ms);
}

TEST_F(WireTest, MeasuresEachSilenceFromItsStart) {
  wires().hold(true, false);
  left_.post(right_, 1000);
  clock_.run_for(400ms);
  wires().hold(false, false);
  clock_.run_for(1us);
  left_.post(right_, 1000);
  wires().hold(true, false);
  clock_.run_for(400ms);
  EXPECT_TRUE(left_.status.ok());
  clock_.run_for(101ms);
  EXPECT_EQ(left_.ended, 900ms + 1us);
}

TEST_F(WireTest, GivesUpIfThePeerIsDestroyed) {
  left_.post(right_, 1000);
  clock_.run_for(12us);
  right_.pair->fence();
  left_.post(right_, 1000);
  clock_.run_for(499ms);
  EXPECT_THAT(left_.written_at, ElementsAre(21us)) << "its answer was on its way";
  EXPECT_TRUE(left_.status.ok());
  clock_.run_for(1s);
  EXPECT_THAT(std::string(left_.status.message()), HasSubstr("does not answer"));
  EXPECT_EQ(left_.ended, 12us + 1us + 10us + 500ms);
}

class LateWriteTest : public WireTest {
 protected:
  LateWriteTest() : WireTest({.seed = 3, .max_late_writes = 64}, 5ms) {}
};

TEST_F(LateWriteTest, WritesOnTheWireLandAfterAFence) {
  for (int i = 0; i < 60; ++i) left_.post(right_, 1);
  left_.pair->fence();
  std::fill(left_.memory.begin(), left_.memory.end(), std::byte{1});
  clock_.run_for(10us);
  const std::size_t soon = right_.noticed_at.size();
  clock_.run_for(1s);
  EXPECT_EQ(soon, 0U);
  EXPECT_GT(right_.noticed_at.size(), 0U);
  EXPECT_GT(right_.noticed_at.back(), 5ms) << "late, and one after the other";
  EXPECT_TRUE(std::is_sorted(right_.noticed_at.begin(), right_.noticed_at.end()));
  EXPECT_EQ(right_.memory[0], std::byte{7}) << "as it was when it was fenced";
  EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
}

TEST_F(LateWriteTest, TheReceiversFenceRejectsLateWrites) {
  for (int i = 0; i < 60; ++i) left_.post(right_, 1);
  left_.pair->fence();
  right_.pair->fence();
  clock_.run_for(1s);
  EXPECT_THAT(right_.noticed_at, IsEmpty());
  EXPECT_EQ(right_.memory[0], std::byte{0});
}

TEST_F(LateWriteTest, ASilentCableLosesLateWrites) {
  for (int i = 0; i < 60; ++i) left_.post(right_, 1);
  left_.pair->fence();
  wires().hold(true, false);
  clock_.run_for(1s);
  wires().hold(false, false);
  clock_.run_for(1s);
  EXPECT_THAT(right_.noticed_at, IsEmpty());
}

TEST_F(LateWriteTest, PairsOvertakeEachOtherButWritesOfOneDoNot) {
  const Pair other = another();
  for (int i = 0; i < 200; ++i) {
    left_.post(right_, 10);
    other.left->post(*other.right, 10);
  }
  clock_.run_for(1s);
  ASSERT_EQ(right_.noticed_at.size(), 200U);
  ASSERT_EQ(other.right->noticed_at.size(), 200U);
  EXPECT_TRUE(std::is_sorted(right_.noticed_at.begin(), right_.noticed_at.end()));
  std::size_t first_ahead = 0;
  std::size_t other_ahead = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    // They alternate: without lag one is 10 ns behind the other.
    if (right_.noticed_at[i] + 1us < other.right->noticed_at[i]) ++first_ahead;
    if (other.right->noticed_at[i] + 1us < right_.noticed_at[i]) ++other_ahead;
  }
  EXPECT_GT(first_ahead, 0U);
  EXPECT_GT(other_ahead, 0U);
}

}  // namespace
}  // namespace cableway::sim
