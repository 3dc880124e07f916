// Flow ends over one hop in virtual time: times, contents, and how the hop ends.
#include "sim/cable/cable_hop.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "gtest/gtest.h"
#include "tests/core/flow/message_buffers.h"

namespace cableway::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kChunk = 1000 * 128ULL;
// No packets within the stream, so that times are round: a frame is its payload and its header of 32 bytes.
constexpr WireFacts kWire{10us, 1U << 30, 0, 512 << 10};

// Moves one end of a flow whenever its link wakes it, and stores the status with which it ended.
template <typename End>
class Mover final : public LinkUser {
 public:
  explicit Mover(End& end) : end_(end) {}
  void wake() override {
    if (status.ok()) status = end_.progress();
  }
  absl::Status status;

 private:
  End& end_;
};

class CableHopTest : public ::testing::Test {
 protected:
  CableHopTest() { hop_.set_users(source_, destination_); }

  VirtualClock clock_;
  Transmitter there_{clock_, 1e9};
  Transmitter back_{clock_, 1e9};
  CableUse use_there_;
  CableUse use_back_;
  CableHop hop_{clock_, kWire, {&there_, &use_there_}, {&back_, &use_back_}, Payload::kCarried};
  FlowSender sender_{hop_.source(), kChunk};
  FlowReceiver receiver_{hop_.destination()};
  Mover<FlowSender> source_{sender_};
  Mover<FlowReceiver> destination_{receiver_};
};

TEST_F(CableHopTest, AMessageTakesItsAnnouncementItsBytesAndItsAcknowledgement) {
  test::SentMessage sent(0, kChunk);
  test::ReceivedMessage received(kChunk);
  ASSERT_TRUE(receiver_.post(received.landing()).ok());
  ASSERT_TRUE(sender_.post(sent.buffer(), kChunk).ok());
  // The announcement and the acknowledgement: 32 ns and 10 us each. The chunk: 128,032 ns and 10 us.
  clock_.run_for(32ns + 10us + 128'032ns + 10us - 1ns);
  EXPECT_FALSE(receiver_.done(0));
  clock_.run_for(1ns);
  EXPECT_TRUE(receiver_.done(0));
  EXPECT_FALSE(sender_.done(0));
  clock_.run_for(32ns + 10us);
  EXPECT_TRUE(sender_.done(0));
  EXPECT_TRUE(received.holds(0, kChunk));
  EXPECT_EQ(use_there_.bytes, kChunk + kFrameHeaderBytes);
  EXPECT_EQ(use_back_.bytes, 2 * kFrameHeaderBytes);
}

TEST_F(CableHopTest, MessagesOfAllSizesArriveCompleteAndInOrder) {
  const std::vector<std::size_t> sizes = {0, 1, 127, 128, kChunk - 1, kChunk, kChunk + 1, 5 * kChunk + 77};
  std::vector<test::SentMessage> sent;
  std::vector<test::ReceivedMessage> received;
  sent.reserve(sizes.size());
  received.reserve(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sent.emplace_back(i, sizes[i]);
    received.emplace_back(sizes[i] + i);
    ASSERT_TRUE(receiver_.post(received[i].landing()).ok());
    ASSERT_TRUE(sender_.post(sent[i].buffer(), sizes[i]).ok());
  }
  clock_.run_for(1s);
  EXPECT_TRUE(sender_.idle());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(receiver_.size(i), sizes[i]);
    EXPECT_TRUE(received[i].holds(i, sizes[i])) << i;
  }
  EXPECT_TRUE(hop_.idle());
}

// 512 KiB may be in flight, so a cable of 10 us and 1 GB/s is always full.
TEST_F(CableHopTest, TheWindowKeepsACableFull) {
  constexpr std::size_t kBytes = 100 * kChunk;
  test::SentMessage sent(0, kBytes);
  test::ReceivedMessage received(kBytes);
  ASSERT_TRUE(receiver_.post(received.landing()).ok());
  ASSERT_TRUE(sender_.post(sent.buffer(), kBytes).ok());
  clock_.run_for(32ns + 10us + 100 * 128'032ns + 10us);
  EXPECT_TRUE(receiver_.done(0));
}

// The bytes carried in a direction are those sent by its port: chunks and the frames between them.
TEST(CableHopUseTest, EqualsWhatThePortSent) {
  VirtualClock clock;
  Transmitter there(clock, 1e6);
  Transmitter back(clock, 1e6);
  CableUse use_there;
  CableUse use_back;
  CableHop hop(clock, WireFacts{.latency = 10us, .buffer_bytes = 1 << 20, .queue_bytes = 256}, {&there, &use_there},
               {&back, &use_back}, Payload::kCounted);
  FlowSender sender(hop.source(), 128);
  FlowReceiver receiver(hop.destination());
  Mover<FlowSender> source(sender);
  Mover<FlowReceiver> destination(receiver);
  hop.set_users(source, destination);
  std::byte counted{};
  for (std::uint64_t message = 0; message < 8; ++message) {
    ASSERT_TRUE(receiver.post(Landing{&counted, 1024, 0}).ok());
    ASSERT_TRUE(sender.post(SendBuffer{&counted, 0}, 1024).ok());
  }
  clock.run_for(1s);
  EXPECT_TRUE(receiver.done(7));
  EXPECT_TRUE(sender.done(7));
  EXPECT_EQ(use_there.bytes, there.bytes());
  EXPECT_EQ(use_back.bytes, back.bytes());
  EXPECT_EQ(use_there.chunks, 64U);
}

// A connection of counted payload from one port to another, which may share its transmitters with others.
struct CountedConnection {
  CountedConnection(VirtualClock& clock, const WireFacts& wire, Transmitter& there, Transmitter& back,
                    std::uint32_t chunk)
      : hop(clock, wire, {&there, &use}, {&back, &use}, Payload::kCounted),
        sender(hop.source(), chunk),
        receiver(hop.destination()) {
    hop.set_users(source, destination);
  }
  bool expect(std::size_t bytes) { return receiver.post(Landing{&counted, bytes, 0}).ok(); }
  bool send(std::size_t bytes) { return sender.post(SendBuffer{&counted, 0}, bytes).ok(); }

  CableUse use;
  std::byte counted{};
  CableHop hop;
  FlowSender sender;
  FlowReceiver receiver;
  Mover<FlowSender> source{sender};
  Mover<FlowReceiver> destination{receiver};
};

// 256 KB are in the port's queue, which take 256 us, minus the part of the first chunk that has left.
TEST(CableHopQueueTest, OtherConnectionsWaitForAnyChunkSize) {
  WireFacts wire = kWire;
  wire.buffer_bytes = 1U << 30;
  wire.queue_bytes = 2 * kChunk;
  for (const std::uint64_t chunk : {kChunk, kChunk / 4}) {
    VirtualClock clock;
    Transmitter there(clock, 1e9);
    Transmitter back(clock, 1e9);
    CountedConnection busy(clock, wire, there, back, static_cast<std::uint32_t>(chunk));
    CountedConnection other(clock, wire, there, back, static_cast<std::uint32_t>(chunk));
    ASSERT_TRUE(busy.expect(10 * kChunk));
    ASSERT_TRUE(other.expect(128));
    ASSERT_TRUE(busy.send(10 * kChunk));
    clock.run_for(500us);
    ASSERT_TRUE(other.send(128));
    clock.run_for(128us + 10us);
    EXPECT_FALSE(other.receiver.done(0)) << chunk;
    clock.run_for(132us);
    EXPECT_TRUE(other.receiver.done(0)) << chunk;
  }
}

TEST(CableHopWindowTest, ALongCableIsAsFastAsItsWindowAllows) {
  VirtualClock clock;
  Transmitter there(clock, 1e12);
  Transmitter back(clock, 1e12);
  CableUse use;
  WireFacts wire = kWire;
  wire.latency = 1ms;
  wire.window_bytes = 2 * (kChunk + kFrameHeaderBytes);
  CableHop hop(clock, wire, {&there, &use}, {&back, &use}, Payload::kCounted);
  FlowSender sender(hop.source(), kChunk);
  FlowReceiver receiver(hop.destination());
  Mover<FlowSender> source(sender);
  Mover<FlowReceiver> destination(receiver);
  hop.set_users(source, destination);
  std::byte counted{};
  ASSERT_TRUE(receiver.post(Landing{&counted, 10 * kChunk, 0}).ok());
  ASSERT_TRUE(sender.post(SendBuffer{&counted, 0}, 10 * kChunk).ok());
  // Two chunks every round trip, five times: the last ones arrive after 1 + 4 * 2 + 1 ms.
  clock.run_for(10ms - 1us);
  EXPECT_FALSE(receiver.done(0));
  clock.run_for(10us);
  EXPECT_TRUE(receiver.done(0));
}

TEST_F(CableHopTest, FailureReasonArrivesAfterSentData) {
  test::SentMessage sent(0, 128);
  test::ReceivedMessage received(128);
  ASSERT_TRUE(receiver_.post(received.landing()).ok());
  ASSERT_TRUE(sender_.post(sent.buffer(), 128).ok());
  clock_.run_for(15us);  // the message is in flight
  hop_.source().fail("the rank was killed", FailureScope::kFlow);
  EXPECT_FALSE(sender_.progress().ok());
  clock_.run_for(1ms);
  EXPECT_TRUE(receiver_.done(0));
  EXPECT_EQ(destination_.status, absl::NotFoundError("the rank was killed"));
}

TEST_F(CableHopTest, NothingIsWrittenAfterAFence) {
  test::SentMessage sent(0, kChunk);
  test::ReceivedMessage received(kChunk);
  ASSERT_TRUE(receiver_.post(received.landing()).ok());
  ASSERT_TRUE(sender_.post(sent.buffer(), kChunk).ok());
  clock_.run_for(60us);  // half of it has left
  hop_.destination().fence();
  received.reuse();
  clock_.run_for(1ms);
  EXPECT_TRUE(received.still_reused());
  EXPECT_EQ(source_.status.code(), absl::StatusCode::kCancelled);
}

TEST_F(CableHopTest, CutEndsBothSidesAndSilenceNeither) {
  test::SentMessage sent(0, kChunk);
  test::ReceivedMessage received(kChunk);
  ASSERT_TRUE(receiver_.post(received.landing()).ok());
  ASSERT_TRUE(sender_.post(sent.buffer(), kChunk).ok());
  clock_.run_for(60us);
  hop_.silence();
  clock_.run_for(1s);
  EXPECT_TRUE(source_.status.ok());
  EXPECT_TRUE(destination_.status.ok());
  EXPECT_FALSE(receiver_.done(0));
  hop_.cut(absl::UnavailableError("no carrier"));
  EXPECT_EQ(sender_.progress(), absl::UnavailableError("no carrier"));
  EXPECT_EQ(receiver_.progress(), absl::UnavailableError("no carrier"));
}

// Bytes are read when they leave, not when they are posted: the flow must not report a send as done before.
TEST_F(CableHopTest, ReusingABufferTooEarlyCorruptsTheMessage) {
  test::SentMessage sent(0, kChunk);
  test::ReceivedMessage received(kChunk);
  ASSERT_TRUE(receiver_.post(received.landing()).ok());
  ASSERT_TRUE(sender_.post(sent.buffer(), kChunk).ok());
  clock_.run_for(60us);
  EXPECT_FALSE(sender_.done(0));
  sent.poison();
  clock_.run_for(1ms);
  EXPECT_FALSE(received.holds(0, kChunk));
}

TEST_F(CableHopTest, EndsOnAChunkThatTheCableChanges) {
  test::SentMessage sent(0, 2 * kChunk);
  test::ReceivedMessage received(2 * kChunk);
  hop_.forward().flip_every(2);
  ASSERT_TRUE(receiver_.post(received.landing()).ok());
  ASSERT_TRUE(sender_.post(sent.buffer(), 2 * kChunk).ok());
  clock_.run_for(1s);
  EXPECT_EQ(hop_.forward().flipped(), 1U);
  EXPECT_TRUE(absl::IsDataLoss(destination_.status)) << destination_.status;
  EXPECT_FALSE(receiver_.done(0));
}

// What a hop passes besides its cable: a slower stage before the latency, and one behind it that it shares.
class StagedHop {
 public:
  StagedHop(VirtualClock& clock, const HopDirection::Stages& forward, Transmitter& back)
      : hop_(clock, kWire, forward, {&back, &use_back_}, Payload::kCarried) {
    hop_.set_users(source_, destination_);
  }

  void send() {
    ASSERT_TRUE(receiver_.post(received_.landing()).ok());
    ASSERT_TRUE(sender_.post(sent_.buffer(), kChunk * kChunks).ok());
  }
  bool has_arrived() const { return receiver_.done(0); }
  bool is_intact() const { return received_.holds(0, kChunk * kChunks); }

  static constexpr std::size_t kChunks = 6;

 private:
  CableUse use_back_;
  CableHop hop_;
  test::SentMessage sent_{0, kChunk* kChunks};
  test::ReceivedMessage received_{kChunk * kChunks};
  FlowSender sender_{hop_.source(), kChunk};
  FlowReceiver receiver_{hop_.destination()};
  Mover<FlowSender> source_{sender_};
  Mover<FlowReceiver> destination_{receiver_};
};

TEST(CableHopStages, AChunkPassesThemOneAfterTheOtherAndWhole) {
  VirtualClock clock;
  Transmitter out{clock, 2e9};
  Transmitter near{clock, 1e9};
  Transmitter far{clock, 1e9};
  Transmitter back{clock, 1e9};
  CableUse use;
  StagedHop hop(clock, {&out, &use, {&near}, {&far}}, back);
  hop.send();
  // The announcement: 32 ns and 10 us. A chunk is 64,016 ns at the first stage, 128,032 ns at the others; the first
  // passes three stages, the others follow it at the pace of the slower ones.
  const auto whole = 32ns + 10us + 64'016ns + 10us + StagedHop::kChunks * 128'032ns + 128'032ns;
  clock.run_for(whole - 1ns);
  EXPECT_FALSE(hop.has_arrived());
  clock.run_for(1ns);
  EXPECT_TRUE(hop.has_arrived());
  EXPECT_TRUE(hop.is_intact());
  EXPECT_EQ(near.parcels(), StagedHop::kChunks);
  EXPECT_EQ(far.parcels(), StagedHop::kChunks);
  EXPECT_EQ(use.chunks, StagedHop::kChunks);
}

TEST(CableHopStages, HopsTakeTurnsAtAStageThatTheyShare) {
  for (const bool is_far : {false, true}) {
    VirtualClock clock;
    Transmitter first{clock, 1e9};
    Transmitter second{clock, 1e9};
    Transmitter shared{clock, 1e9};
    Transmitter back{clock, 1e9};
    CableUse use;
    const std::vector<Transmitter*> at = {&shared};
    const std::vector<Transmitter*> none;
    StagedHop one(clock, {&first, &use, is_far ? none : at, is_far ? at : none}, back);
    StagedHop other(clock, {&second, &use, is_far ? none : at, is_far ? at : none}, back);
    one.send();
    other.send();
    // Both are done when the shared stage has passed all, after the first chunk has passed the stage before it.
    const auto all = 2 * 32ns + 2 * 10us + (2 * StagedHop::kChunks + 1) * 128'032ns;
    clock.run_for(all - 128'032ns - 64ns);
    EXPECT_FALSE(one.has_arrived() && other.has_arrived());
    clock.run_for(128'032ns + 64ns);
    EXPECT_TRUE(one.has_arrived() && other.has_arrived());
    EXPECT_TRUE(one.is_intact() && other.is_intact());
    EXPECT_EQ(shared.parcels(), 2 * StagedHop::kChunks);
  }
}

TEST(CableHopStages, AreLeftWhenTheHopIsGone) {
  VirtualClock clock;
  Transmitter out{clock, 1e9};
  Transmitter near{clock, 1e8};
  Transmitter far{clock, 1e8};
  Transmitter back{clock, 1e9};
  CableUse use;
  auto hop = std::make_unique<StagedHop>(clock, HopDirection::Stages{&out, &use, {&near}, {&far}}, back);
  hop->send();
  clock.run_for(2ms);  // parcels wait at each
  hop.reset();
  clock.run_for(1s);
  EXPECT_TRUE(clock.idle());
}

}  // namespace
}  // namespace cableway::sim
