// When the relay's thread polls circuits over RDMA and when it arms completion events, on devices in memory: the first
// hop goes over RDMA, the second over TCP.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "core/linux/link/hop_link.h"
#include "core/linux/rdma/rdma_transport.h"
#include "core/linux/relay/rdma_relay_memory.h"
#include "core/linux/relay/relay_loop.h"
#include "core/linux/tcp/tcp_chunk_link.h"
#include "core/linux/tcp/tcp_transport.h"
#include "routing/topology/cable_name.h"
#include "tests/core/flow/message_buffers.h"
#include "tests/core/linux/hop/sample_setup.h"
#include "tests/core/linux/loopback_sockets.h"
#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::host {
namespace {

using std::chrono_literals::operator""min;
using std::chrono_literals::operator""us;

VerbsGid gid_of(unsigned char host) {
  VerbsGid gid;
  gid.bytes[15] = std::byte{host};
  return gid;
}

// Both ends of one circuit through the loop, in the test's thread.
struct PolledFlow {
  std::unique_ptr<HopLink> source;
  std::unique_ptr<TcpChunkLink> destination;
  std::unique_ptr<FlowSender> sender;
  std::unique_ptr<FlowReceiver> receiver;
};

// A message that a source's device reads.
class RegisteredMessage {
 public:
  RegisteredMessage(const std::shared_ptr<VerbsDevice>& device, std::uint64_t number, std::size_t bytes)
      : message_(number, bytes),
        memory_(VerbsMemory::add(device, const_cast<std::byte*>(message_.bytes().data()), bytes, {}).value()) {}

  SendBuffer buffer() const { return message_.buffer(memory_->keys().local); }

 private:
  const cableway::test::SentMessage message_;
  const std::unique_ptr<VerbsMemory> memory_;
};

class RelayPollingTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 3000;

  RelayPollingTest() { ::signal(SIGPIPE, SIG_IGN); }
  ~RelayPollingTest() override { loop_.reset(); }

  void start(std::chrono::microseconds spin) {
    const RelayLoop::Listener listener{[this](const RelayLoop::Closed&) { ++closed_; }, [](RelayStore&) {}};
    loop_ = RelayLoop::start({memory_.get()}, {.spin = spin, .stamps = &stamps_}, listener).value();
  }
  PolledFlow open(CircuitShare share = CircuitShare::kNone) {
    CircuitSetup setup = test::sample_setup(1, true);
    setup.share = share;
    setup.hops[1].cable = routing::discovered_cable_name("n1", "eth1", "n2", "eth0");
    auto [source, upstream] = test::connected_pair();
    auto [downstream, destination] = test::connected_pair();
    auto near = half(source_device_, source_fake_.gid);
    auto far = half(relay_device_, relay_fake_.gid);
    join(near, far);
    join(far, near);
    auto from = make_rdma_end(std::move(far));
    auto to = make_tcp_end();
    auto floor = loop_->make_floor(*from, *to).value();
    const absl::Status added =
        loop_->add(setup, {std::move(upstream), std::move(from), {}, setup.chunk_bytes},
                   {std::move(downstream), std::move(to), {}, setup.chunk_bytes}, std::move(floor));
    EXPECT_TRUE(added.ok()) << added;
    PolledFlow flow;
    flow.source =
        make_hop_link({std::move(source), make_rdma_end(std::move(near)), {}, setup.chunk_bytes}, {HopPlace::kSource})
            .value();
    flow.destination = std::make_unique<TcpChunkLink>(std::move(destination), TcpChunkLink::Place::kFlowEnd);
    flow.sender = std::make_unique<FlowSender>(flow.source->link(), setup.chunk_bytes);
    flow.receiver = std::make_unique<FlowReceiver>(*flow.destination);
    return flow;
  }
  std::unique_ptr<RegisteredMessage> message(std::uint64_t number) const {
    return std::make_unique<RegisteredMessage>(source_device_, number, kBytes);
  }
  // Moves one message and checks it.
  void transfer(PolledFlow& flow) {
    const std::uint64_t number = flow.sender->next();
    const auto sent = message(number);
    cableway::test::ReceivedMessage landing(kBytes);
    ASSERT_TRUE(flow.receiver->post(landing.landing()).ok());
    ASSERT_TRUE(flow.sender->post(sent->buffer(), kBytes).ok());
    ASSERT_TRUE(test::run_until([&] { return flow.sender->done(number); },
                                [&] {
                                  ASSERT_TRUE(flow.sender->progress().ok());
                                  ASSERT_TRUE(flow.receiver->progress().ok());
                                }));
    EXPECT_TRUE(landing.holds(number, kBytes));
  }

  // The loop updates its counters after the transfer, so they may lag behind what has arrived here.
  void expect_chunks(std::uint64_t count) {
    EXPECT_TRUE(test::run_until([&] { return loop_->status().chunks == count; }, [] { ::usleep(1000); }));
  }

  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& source_fake_ = verbs_.add("mlx5_0", gid_of(1));
  test::FakeVerbsDevice& relay_fake_ = verbs_.add("mlx5_1", gid_of(2));
  const std::shared_ptr<VerbsDevice> source_device_ = verbs_.open(source_fake_);
  const std::shared_ptr<VerbsDevice> relay_device_ = verbs_.open(relay_fake_);
  const std::unique_ptr<RdmaRelayMemory> memory_ = RdmaRelayMemory::reserve(64U << 20).value();
  PortStampPage stamps_{};
  std::atomic<std::size_t> closed_ = 0;
  std::unique_ptr<RelayLoop> loop_;

 private:
  static RdmaHalf half(const std::shared_ptr<VerbsDevice>& device, const VerbsGid& gid) {
    return {device, 0, VerbsQueuePair::create(device, gid, 1, {}).value(), {}};
  }
  static void join(RdmaHalf& here, const RdmaHalf& there) {
    here.other = there.queue_pair->endpoint();
    ASSERT_TRUE(here.queue_pair->connect(here.other).ok());
  }
};

TEST_F(RelayPollingTest, ArmsNoEventsWhileItSpins) {
  start(10min);
  PolledFlow flow = open();
  for (int i = 0; i < 100; ++i) transfer(flow);
  EXPECT_EQ(relay_fake_.armed, 1U) << "when the hop was made";
  EXPECT_LE(relay_fake_.completion_events, 1U);
  expect_chunks(100);
}

class GateWatch final : public ChunkLink::Sink {
 public:
  absl::Status on_landed(const Frame&) override { return absl::OkStatus(); }
  absl::Status on_chunk(const Frame&, Slot&) override { return absl::InternalError("no slots here"); }
  absl::Status on_control(const Frame& control) override {
    if (control.kind == FrameKind::kGate) closed = control.offset != 0;
    return absl::OkStatus();
  }
  void on_sent(Slot*) override {}
  bool closed = false;  // as told last
};

// An alternate of some hundred chunks a second, whose relay has nothing else to do. Other processes may keep the
// relay's thread waiting for a processor, which closes the gate for as long as they do: 40 s are for machines that
// build.
TEST_F(RelayPollingTest, KeepsNoAlternateAwayForItsSpinning) {
  constexpr std::uint64_t kMostChunks = 8000;
  constexpr std::uint32_t kChunkBytes = 2944;  // a multiple of 128
  constexpr int kOpenChunks = 40;              // some 200 ms, in which the relay measures its load several times
  start(10min);
  PolledFlow flow = open(CircuitShare::kAlternate);
  const auto chunk = message(0);
  cableway::test::ReceivedMessage landing(kMostChunks * kChunkBytes);
  ASSERT_TRUE(flow.destination->post_landing(0, landing.landing()).ok());
  ChunkLink& source = flow.source->link();
  GateWatch at_source;
  GateWatch at_destination;
  const auto look = [&] {
    ASSERT_TRUE(source.progress(at_source).ok());
    const absl::Status landed = flow.destination->progress(at_destination);
    ASSERT_TRUE(landed.ok()) << landed;
  };
  int in_a_row = 0;
  for (std::uint64_t i = 0; i < kMostChunks && in_a_row < kOpenChunks; ++i) {
    ASSERT_TRUE(test::run_until([&] { return source.can_send(); }, look));
    source.send(Frame{FrameKind::kChunk, kChunkBytes, 0, i * kChunkBytes, kMostChunks * kChunkBytes}, chunk->buffer());
    for (int ms = 0; ms < 5; ++ms) {
      look();
      ::usleep(1000);
    }
    in_a_row = at_source.closed ? 0 : in_a_row + 1;
  }
  EXPECT_EQ(in_a_row, kOpenChunks);
}

TEST_F(RelayPollingTest, PollsNothingWithoutSpinning) {
  start(0us);
  PolledFlow flow = open();
  for (int i = 0; i < 100; ++i) transfer(flow);
  loop_.reset();
  EXPECT_GE(relay_fake_.completion_events, 1U);
  EXPECT_GT(relay_fake_.armed, relay_fake_.completion_events) << "armed after every event";
}

TEST_F(RelayPollingTest, CircuitsBeyondThePollingLimitAreArmed) {
  constexpr std::size_t kCircuits = RelayLoop::kMaxPolled + 8;
  start(10min);
  std::vector<PolledFlow> flows;
  for (std::size_t i = 0; i < kCircuits; ++i) flows.push_back(open());
  for (int round = 0; round < 3; ++round) {
    for (PolledFlow& flow : flows) transfer(flow);
  }
  loop_.reset();
  // Each of the eight was woken for each message, or found it when woken for the previous one.
  EXPECT_GE(relay_fake_.armed, kCircuits + 8);
  EXPECT_LE(relay_fake_.armed, kCircuits + relay_fake_.completion_events);
}

TEST_F(RelayPollingTest, ACircuitMayEndWhileItIsPolled) {
  start(10min);
  PolledFlow first = open();
  PolledFlow second = open();
  PolledFlow third = open();
  for (PolledFlow* flow : {&first, &second, &third}) transfer(*flow);
  second.destination.reset();
  ASSERT_TRUE(test::run_until([&] { return closed_ == 1; }, [] { ::usleep(1000); }));
  for (PolledFlow* flow : {&first, &third}) transfer(*flow);
  third.source->link().fail("had enough", FailureScope::kFlow);
  ASSERT_TRUE(test::run_until([&] { return closed_ == 2; }, [] { ::usleep(1000); }));
  transfer(first);
}

// Messages at varying distances from the moment at which the relay goes to sleep.
TEST_F(RelayPollingTest, MissesNothingAroundItsSleep) {
  start(100us);
  PolledFlow flow = open();
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    transfer(flow);
    ::usleep(random() % 200);
  }
  expect_chunks(500);
}

// A message that its source sends in the relay's own thread, at a chosen moment. No later event would wake the relay.
class LastMoment : public RelayPollingTest {
 protected:
  // First, because the loop's thread uses the members below.
  ~LastMoment() override { loop_.reset(); }

  // In the relay's thread, which owns the sender from the announcement until it has sent.
  void send_here() {
    if (!may_send_.load(std::memory_order_acquire)) return;
    ASSERT_TRUE(flow_.sender->progress().ok());
    if (flow_.source->link().bytes_moved() == before_announcement_) return;
    may_send_.store(false, std::memory_order_relaxed);
    ASSERT_TRUE(flow_.sender->post(sent_->buffer(), kBytes).ok());
    has_sent_.store(true, std::memory_order_release);
  }
  void expect_that_it_arrives() {
    start(500us);
    flow_ = open();
    transfer(flow_);
    const std::uint64_t number = flow_.sender->next();
    sent_ = message(number);
    cableway::test::ReceivedMessage landing(kBytes);
    before_announcement_ = flow_.source->link().bytes_moved();
    may_send_.store(true, std::memory_order_release);
    ASSERT_TRUE(flow_.receiver->post(landing.landing()).ok());
    ASSERT_TRUE(
        test::run_until([&] { return has_sent_.load(std::memory_order_acquire) && flow_.receiver->done(number); },
                        [&] { ASSERT_TRUE(flow_.receiver->progress().ok()); }, std::chrono::seconds(60)))
        << (has_sent_ ? "the relay is asleep" : "it was never sent");
    EXPECT_TRUE(landing.holds(number, kBytes));
    ASSERT_TRUE(test::run_until([&] { return flow_.sender->done(number); },
                                [&] {
                                  ASSERT_TRUE(flow_.sender->progress().ok());
                                  ASSERT_TRUE(flow_.receiver->progress().ok());
                                }));
  }

  PolledFlow flow_;
  std::unique_ptr<RegisteredMessage> sent_;
  std::uint64_t before_announcement_ = 0;
  std::atomic<bool> may_send_ = false;
  std::atomic<bool> has_sent_ = false;
  std::atomic<bool> armed_ = false;
};

TEST_F(LastMoment, ACompletionBeforeArmingIsFound) {
  relay_fake_.when_arming = [this] { send_here(); };
  expect_that_it_arrives();
}

TEST_F(LastMoment, ACompletionAfterTheLastPollWakes) {
  relay_fake_.when_arming = [this] { armed_ = true; };
  relay_fake_.when_polled_empty = [this] {
    if (armed_.exchange(false)) send_here();
  };
  expect_that_it_arrives();
}

}  // namespace
}  // namespace cableway::host
