// The gate of an alternate at a relay:
//
//   source ---- relay ---- destination       the relay's port towards the destination: eth1
//        gate <--
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "core/gate/port_stamps.h"
#include "core/relay/relay_circuit.h"
#include "sim/cable/memory_chunk_link.h"
#include "sim/virtual_clock.h"
#include "tests/core/flow/message_buffers.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint32_t kGatedChunkBytes = 1024;
constexpr std::uint64_t kGatedChunks = 100;

class RelayGateTest : public testing::Test {
 protected:
  RelayGateTest() {
    std::tie(source_, upstream_) = sim::MemoryChunkLink::make_pair();
    std::tie(downstream_, destination_) = sim::MemoryChunkLink::make_pair();
  }
  void begin(bool is_alternate) {
    relay_ = std::make_unique<RelayCircuit>(*upstream_, *downstream_,
                                            std::make_unique<sim::MemorySlot>(kGatedChunkBytes), pool_, RelayNames{},
                                            RelayEgress{&clock_.present(), port_, is_alternate, &load_});
    ASSERT_TRUE(destination_->post_landing(0, landing_.landing()).ok());
  }

  class End final : public ChunkLink::Sink {
   public:
    absl::Status on_landed(const Frame&) override { return absl::OkStatus(); }
    absl::Status on_chunk(const Frame&, Slot&) override { return absl::InternalError("no slots here"); }
    absl::Status on_control(const Frame& control) override {
      controls.push_back(control);
      return absl::OkStatus();
    }
    void on_sent(Slot*) override {}
    std::vector<Frame> controls;
  };

  // The next chunk passes from the source to the destination.
  void pass_chunk() {
    ASSERT_TRUE(source_->can_send());
    source_->send(
        Frame{FrameKind::kChunk, kGatedChunkBytes, 0, next_++ * kGatedChunkBytes, kGatedChunks * kGatedChunkBytes},
        SendBuffer{payload_.buffer().data, 0});
    for (int i = 0; i < 4; ++i) {
      source_->step();
      ASSERT_TRUE(relay_->progress().ok());
      downstream_->step();
      upstream_->step();
      ASSERT_TRUE(destination_->progress(at_destination_).ok());
      ASSERT_TRUE(source_->progress(at_source_).ok());
    }
  }
  // What the source has been told since the last call.
  std::vector<Frame> told() {
    EXPECT_TRUE(relay_->progress().ok());
    upstream_->step();
    EXPECT_TRUE(source_->progress(at_source_).ok());
    return std::exchange(at_source_.controls, {});
  }
  void announce(std::uint64_t beside_the_primary) {
    const Frame announcement{FrameKind::kAnnounce, 0, 0, beside_the_primary, kGatedChunks * kGatedChunkBytes};
    ASSERT_TRUE(destination_->send_control(announcement).ok());
    destination_->step();
    EXPECT_THAT(told(), ElementsAre(announcement));
  }

  sim::VirtualClock clock_;
  PortStampPage page_{};
  const EgressPort port_{page_, "eth1"};
  RelayLoad load_;
  SlotPool pool_{sim::make_memory_slots(1, kGatedChunkBytes), 1};
  std::unique_ptr<sim::MemoryChunkLink> source_, upstream_, downstream_, destination_;
  std::unique_ptr<RelayCircuit> relay_;
  const test::SentMessage payload_{0, kGatedChunkBytes};
  test::ReceivedMessage landing_{kGatedChunks * kGatedChunkBytes};
  std::uint64_t next_ = 0;
  End at_source_;
  End at_destination_;
};

TEST_F(RelayGateTest, AFlowsOwnPathStampsThePort) {
  begin(false);
  pass_chunk();
  EXPECT_FALSE(PortGate(port_).is_open(clock_.now()));
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_FALSE(relay_->waits_for_gate());
}

TEST_F(RelayGateTest, AnAlternateDoesNotStampIt) {
  begin(true);
  pass_chunk();
  EXPECT_TRUE(PortGate(port_).is_open(clock_.now()));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(RelayGateTest, TheSourceIsToldOnceThatThePortIsInUseAndOnceThatItIsNot) {
  begin(true);
  port_.use(clock_.now(), milliseconds(1));
  pass_chunk();
  EXPECT_THAT(std::exchange(at_source_.controls, {}), ElementsAre(gate_frame(true)));
  pass_chunk();
  EXPECT_THAT(told(), IsEmpty()) << "what is on its way is relayed, and the source knows";
  EXPECT_TRUE(relay_->waits_for_gate());
  relay_->look_at_gate();
  EXPECT_THAT(told(), IsEmpty());
  clock_.run_for(milliseconds(15));
  relay_->look_at_gate();
  EXPECT_FALSE(relay_->waits_for_gate());
  EXPECT_THAT(told(), ElementsAre(gate_frame(false)));
}

// Traffic of others, on and off every 10 ms, and every so often longer.
TEST_F(RelayGateTest, TrafficThatComesAndGoesDoesNotMakeItOscillate) {
  begin(true);
  std::size_t opened = 0;
  pass_chunk();
  for (int ms = 0; ms < 10'000; ++ms) {
    if (ms / 10 % 2 == 0) port_.use(clock_.now(), milliseconds(1));
    clock_.run_for(milliseconds(1));
    if (ms % 100 == 0 && next_ < kGatedChunks) pass_chunk();
    if (ms % 5 == 0) relay_->look_at_gate();
    for (const Frame& each : told()) opened += each == gate_frame(false) ? 1 : 0;
  }
  EXPECT_EQ(opened, 0U) << "it was closed once, and has stayed closed";
  EXPECT_TRUE(relay_->waits_for_gate());
}

TEST_F(RelayGateTest, ARelayWithoutTimeClosesIt) {
  begin(true);
  load_.measure(clock_.now(), milliseconds(0));
  clock_.run_for(milliseconds(20));
  load_.measure(clock_.now(), milliseconds(20));
  pass_chunk();
  EXPECT_THAT(std::exchange(at_source_.controls, {}), ElementsAre(gate_frame(true)));
  EXPECT_TRUE(relay_->waits_for_gate());
  clock_.run_for(milliseconds(60));
  load_.measure(clock_.now(), milliseconds(20));
  relay_->look_at_gate();
  EXPECT_THAT(told(), ElementsAre(gate_frame(false)));
}

TEST_F(RelayGateTest, TheGateOfALaterRelayIsPassedOn) {
  begin(true);
  ASSERT_TRUE(destination_->send_control(gate_frame(true)).ok());
  destination_->step();
  EXPECT_THAT(told(), ElementsAre(gate_frame(true)));
  EXPECT_FALSE(relay_->waits_for_gate()) << "the later relay looks";
  port_.use(clock_.now(), milliseconds(1));
  pass_chunk();
  ASSERT_TRUE(destination_->send_control(gate_frame(false)).ok());
  destination_->step();
  EXPECT_THAT(told(), IsEmpty()) << "closed here";
  clock_.run_for(milliseconds(15));
  relay_->look_at_gate();
  EXPECT_THAT(told(), ElementsAre(gate_frame(false)));
}

// Which circuit is the primary its announcements tell.
TEST_F(RelayGateTest, AnAlternateThatIsThePrimaryStampsThePort) {
  begin(true);
  announce(0);
  port_.use(clock_.now(), milliseconds(1));
  clock_.run_for(milliseconds(50));
  pass_chunk();
  EXPECT_FALSE(PortGate(port_).is_open(clock_.now()));
  EXPECT_FALSE(relay_->waits_for_gate());
  announce(1);
  pass_chunk();
  EXPECT_THAT(at_source_.controls, ElementsAre(gate_frame(true))) << "its own stamp keeps it away for a moment";
}

constexpr std::uint64_t kPerSecond = 4 * kGatedChunkBytes;  // one chunk in a quarter of a second

TEST_F(RelayGateTest, TheSourceIsToldWhatThePortCarries) {
  begin(false);
  relay_->look_at_load();
  pass_chunk();
  clock_.run_for(milliseconds(250));
  relay_->look_at_load();
  EXPECT_TRUE(relay_->has_news());
  EXPECT_THAT(told(), ElementsAre(gate_frame(false, kPerSecond)));
  EXPECT_FALSE(relay_->has_news());
  pass_chunk();
  clock_.run_for(milliseconds(250));
  relay_->look_at_load();
  EXPECT_THAT(told(), IsEmpty()) << "the same";
  // Another flow uses the port, too.
  port_.count(kGatedChunkBytes);
  pass_chunk();
  clock_.run_for(milliseconds(250));
  relay_->look_at_load();
  EXPECT_THAT(told(), ElementsAre(gate_frame(false, 2 * kPerSecond)));
}

TEST_F(RelayGateTest, ASourceThatSendsNothingIsNotToldButOfItsAlternate) {
  for (const bool is_alternate : {false, true}) {
    SCOPED_TRACE(is_alternate);
    next_ = 0;
    std::tie(source_, upstream_) = sim::MemoryChunkLink::make_pair();
    std::tie(downstream_, destination_) = sim::MemoryChunkLink::make_pair();
    begin(is_alternate);
    relay_->look_at_load();
    port_.count(kGatedChunkBytes);
    clock_.run_for(milliseconds(250));
    relay_->look_at_load();
    EXPECT_EQ(relay_->has_news(), is_alternate);
    EXPECT_EQ(told().size(), is_alternate ? 1U : 0U);
  }
}

TEST_F(RelayGateTest, TheBusiestPortOfAllRelaysCounts) {
  begin(true);
  relay_->look_at_load();
  port_.count(kGatedChunkBytes);
  clock_.run_for(milliseconds(250));
  relay_->look_at_load();
  for (const std::uint64_t ahead : {std::uint64_t{1}, 3 * kPerSecond}) {
    ASSERT_TRUE(destination_->send_control(gate_frame(false, ahead)).ok());
    destination_->step();
    EXPECT_THAT(told(), ElementsAre(gate_frame(false, std::max(ahead, kPerSecond))));
  }
}

TEST_F(RelayGateTest, LoadsDoNotQueueUpForASourceThatDoesNotRead) {
  begin(true);
  relay_->look_at_load();
  int news = 0;
  for (int i = 1; i <= 100; ++i) {
    port_.count(static_cast<std::uint64_t>(i) * i * kGatedChunkBytes);
    clock_.run_for(milliseconds(250));
    relay_->look_at_load();
    if (!relay_->has_news()) continue;
    ++news;
    ASSERT_TRUE(relay_->progress().ok());
  }
  EXPECT_EQ(news, 1);
  EXPECT_EQ(told().size(), 1U);
}

TEST_F(RelayGateTest, ALoadBeyondAllPortsIsCut) {
  begin(true);
  ASSERT_TRUE(destination_->send_control(gate_frame(false, ~std::uint64_t{0})).ok());
  destination_->step();
  EXPECT_THAT(told(), ElementsAre(gate_frame(false, kMaxBytesPerSecond)));
}

TEST_F(RelayGateTest, AnAlternatesChunksAreNoLoad) {
  begin(true);
  relay_->look_at_load();
  pass_chunk();
  clock_.run_for(milliseconds(250));
  relay_->look_at_load();
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(RelayGateTest, AGateOfAnotherCircuitThanAnAlternateBreaksTheProtocol) {
  begin(false);
  ASSERT_TRUE(destination_->send_control(gate_frame(true)).ok());
  destination_->step();
  EXPECT_TRUE(absl::IsInvalidArgument(relay_->progress().status()));
}

}  // namespace
}  // namespace cableway
