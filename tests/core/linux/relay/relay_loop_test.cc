// The relay's thread, with real connections on both sides.
#include "core/linux/relay/relay_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "core/linux/tcp/data_socket.h"
#include "core/linux/tcp/pipe_slot.h"
#include "core/linux/tcp/pipe_store.h"
#include "core/linux/tcp/relay_memory.h"
#include "core/linux/tcp/tcp_chunk_link.h"
#include "tests/core/flow/flow_script.h"
#include "tests/core/flow/message_buffers.h"
#include "tests/core/linux/hop/sample_setup.h"
#include "tests/core/linux/loopback_sockets.h"
#include "tests/core/linux/relay/circuit_over_tcp.h"

namespace cableway::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// One circuit through the loop: both its ends are flows in the test's thread.
struct Flow {
  std::unique_ptr<TcpChunkLink> source;
  std::unique_ptr<TcpChunkLink> destination;
  std::unique_ptr<FlowSender> sender;
  std::unique_ptr<FlowReceiver> receiver;
};

class RelayLoopTest : public testing::Test {
 protected:
  RelayLoopTest() {
    ::signal(SIGPIPE, SIG_IGN);
    start_loop(kLeases);
  }

  void start_loop(std::size_t leases) {
    loop_.reset();
    const RelayLoop::Listener listener{[this](RelayLoop::Closed closed) {
                                         const std::lock_guard lock(mutex_);
                                         closed_.push_back(std::move(closed));
                                       },
                                       [this](RelayStore&) { ++out_of_leases_; }};
    pipes_ = PipeStore::create({.bytes = 0, .max_circuits = 100, .leases = leases}).value();
    auto loop = RelayLoop::start({pipes_.get()}, {.spin = std::chrono::microseconds(20)}, listener);
    EXPECT_TRUE(loop.ok()) << loop.status();
    loop_ = *std::move(loop);
  }
  void add(const CircuitSetup& setup, UniqueFd upstream, UniqueFd downstream) {
    test::add_over_tcp(*loop_, setup, std::move(upstream), std::move(downstream));
  }
  // Through `relays` relays, all of them this loop.
  Flow open(std::uint64_t number, int buffer_bytes = 0, std::uint32_t chunk_bytes = 65536, std::size_t relays = 1) {
    CircuitSetup setup = test::sample_setup(1, true);
    setup.flow = number;
    setup.chunk_bytes = chunk_bytes;
    auto [source, destination] = test::connected_pair(buffer_bytes);
    for (std::size_t i = 0; i < relays; ++i) {
      auto [downstream, next] = test::connected_pair(buffer_bytes);
      add(setup, std::move(destination), std::move(downstream));
      destination = std::move(next);
    }
    return flow_between(std::move(source), std::move(destination), setup.chunk_bytes);
  }
  static Flow flow_between(UniqueFd source, UniqueFd destination, std::uint32_t chunk_bytes) {
    Flow flow;
    flow.source = std::make_unique<TcpChunkLink>(std::move(source), TcpChunkLink::Place::kFlowEnd);
    flow.destination = std::make_unique<TcpChunkLink>(std::move(destination), TcpChunkLink::Place::kFlowEnd);
    flow.sender = std::make_unique<FlowSender>(*flow.source, chunk_bytes);
    flow.receiver = std::make_unique<FlowReceiver>(*flow.destination);
    return flow;
  }
  RelayMemoryStatus relay_memory() const { return pipes_->status(loop_->circuits()); }
  std::size_t closed() const {
    const std::lock_guard lock(mutex_);
    return closed_.size();
  }
  std::string reason_of(std::size_t number) const {
    const std::lock_guard lock(mutex_);
    return std::string(closed_.at(number).reason.message());
  }
  // The loop updates its counters after the transfer, so they may lag behind what has arrived here.
  RelayStatus status_after(std::uint64_t bytes) const {
    EXPECT_TRUE(test::run_until([&] { return loop_->status().bytes == bytes; }, [] { ::usleep(1000); }));
    return loop_->status();
  }
  void wait_until_closed(std::size_t circuits) {
    EXPECT_TRUE(test::run_until([&] { return closed() == circuits; }, [] { ::usleep(1000); }));
  }
  // Moves one message and checks it.
  static void transfer(
      Flow& flow, std::size_t bytes, const std::function<void()>& meanwhile = [] {}) {
    const std::uint64_t number = flow.sender->next();
    cableway::test::SentMessage message(number, bytes);
    cableway::test::ReceivedMessage landing(bytes);
    ASSERT_TRUE(flow.receiver->post(landing.landing()).ok());
    ASSERT_TRUE(flow.sender->post(message.buffer(), bytes).ok());
    finish(flow, number, meanwhile);
    EXPECT_TRUE(landing.holds(number, bytes));
  }
  static void finish(
      Flow& flow, std::uint64_t number, const std::function<void()>& meanwhile = [] {}) {
    ASSERT_TRUE(test::run_until([&] { return flow.sender->done(number); },
                                [&] {
                                  ASSERT_TRUE(flow.sender->progress().ok());
                                  ASSERT_TRUE(flow.receiver->progress().ok());
                                  meanwhile();
                                }));
  }
  // Sends posted messages until every buffer of the path is full.
  static void fill(Flow& flow) {
    std::uint64_t moved = 0;
    ASSERT_TRUE(test::run_until([&] { return moved > 100000 && moved == flow.source->bytes_moved(); },
                                [&] {
                                  moved = flow.source->bytes_moved();
                                  ASSERT_TRUE(flow.sender->progress().ok());
                                  ::usleep(20000);
                                }));
  }
  static std::string failure_of(const std::function<absl::Status()>& progress) {
    absl::Status status;
    EXPECT_TRUE(test::run_until([&] { return !status.ok(); }, [&] { status = progress(); }));
    return std::string(status.message());
  }

  static constexpr std::size_t kLeases = 3;

  mutable std::mutex mutex_;
  std::vector<RelayLoop::Closed> closed_;
  std::atomic<int> out_of_leases_ = 0;
  std::unique_ptr<PipeStore> pipes_;
  std::unique_ptr<RelayLoop> loop_;
};

TEST_F(RelayLoopTest, RelaysManyCircuitsAtOnce) {
  constexpr std::size_t kFlows = 8;
  std::vector<Flow> flows;
  std::vector<std::unique_ptr<cableway::test::FlowScript>> scripts;
  std::mt19937 random(1);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < kFlows; ++i) {
    flows.push_back(open(i, i % 2 == 0 ? 0 : 8192));
    const std::vector<std::size_t> sizes = cableway::test::random_sizes(random, 12, 1U << 16);
    for (const std::size_t size : sizes) bytes += size;
    scripts.push_back(std::make_unique<cableway::test::FlowScript>(*flows[i].sender, *flows[i].receiver, sizes,
                                                                   static_cast<std::uint32_t>(i)));
  }
  std::size_t finished = 0;
  ASSERT_TRUE(test::run_until([&] { return finished == kFlows; },
                              [&] {
                                finished = 0;
                                for (std::size_t i = 0; i < kFlows; ++i) {
                                  scripts[i]->post_send();
                                  scripts[i]->post_receive();
                                  ASSERT_TRUE(flows[i].sender->progress().ok());
                                  ASSERT_TRUE(flows[i].receiver->progress().ok());
                                  scripts[i]->notice_done();
                                  finished += scripts[i]->finished() ? 1U : 0U;
                                }
                              }));
  const RelayStatus status = status_after(bytes);
  EXPECT_THAT(status.circuits, SizeIs(kFlows));
  EXPECT_EQ(status.circuits_opened, kFlows);
  EXPECT_EQ(status.circuits_broken, 0U);
  EXPECT_EQ(status.bytes, bytes);
  EXPECT_EQ(closed(), 0U);
}

TEST_F(RelayLoopTest, ReportsCurrentAndPastCircuits) {
  Flow flow = open(4711);
  transfer(flow, 300000);
  RelayStatus status = status_after(300000);
  ASSERT_THAT(status.circuits, SizeIs(1));
  EXPECT_EQ(status.circuits[0].flow, 4711U);
  EXPECT_EQ(status.circuits[0].path, "n0 -c0-> n1 -c1-> n2");
  EXPECT_EQ(status.circuits[0].bytes, 300000U);
  EXPECT_EQ(status.circuits[0].chunks, 5U);  // of 65,536
  flow.source->fence();
  wait_until_closed(1);
  status = loop_->status();
  EXPECT_THAT(status.circuits, SizeIs(0));
  EXPECT_EQ(status.circuits_opened, 1U);
  EXPECT_EQ(status.circuits_broken, 0U);
  EXPECT_EQ(status.bytes, 300000U);
  EXPECT_EQ(status.chunks, 5U);
}

TEST_F(RelayLoopTest, ReturnsBothConnectionsOfAnEndedCircuit) {
  Flow flow = open(1);
  flow.destination.reset();
  wait_until_closed(1);
  EXPECT_THAT(reason_of(0), AllOf(HasSubstr("node n1 (cable c1 to n2): "), HasSubstr("the peer closed")));
  EXPECT_TRUE(closed_[0].upstream.valid());
  EXPECT_TRUE(closed_[0].downstream.valid());
  EXPECT_EQ(closed_[0].setup.flow, 1U);
  EXPECT_FALSE(closed_[0].broken);
  EXPECT_THAT(failure_of([&] { return flow.sender->progress(); }), HasSubstr("node n1 (cable c1 to n2): "));
}

TEST_F(RelayLoopTest, EndsACircuitWhoseDestinationDiesUnderLoad) {
  Flow flow = open(1);
  const std::size_t bytes = 64U << 20;
  const cableway::test::SentMessage message(0, bytes);
  cableway::test::ReceivedMessage landing(bytes);
  ASSERT_TRUE(flow.receiver->post(landing.landing()).ok());
  ASSERT_TRUE(flow.sender->post(message.buffer(), bytes).ok());
  // The destination stops reading: all buffers fill, and the relay waits without spinning or dropping data.
  ASSERT_TRUE(test::run_until([&] { return loop_->status().bytes > 0 || flow.source->bytes_moved() > (1U << 20); },
                              [&] { ASSERT_TRUE(flow.sender->progress().ok()); }));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(flow.sender->progress().ok());
    ::usleep(500);
  }
  EXPECT_EQ(closed(), 0U);
  flow.destination.reset();
  wait_until_closed(1);
  EXPECT_THAT(reason_of(0), HasSubstr("node n1 (cable c1 to n2): "));
  EXPECT_FALSE(failure_of([&] { return flow.sender->progress(); }).empty());
  EXPECT_FALSE(flow.sender->done(0));
  EXPECT_EQ(loop_->status().circuits_broken, 1U);
  EXPECT_TRUE(closed_.at(0).broken);
}

TEST_F(RelayLoopTest, AStalledCircuitDoesNotBlockOthers) {
  Flow stalled = open(1, 8192);
  const cableway::test::SentMessage message(0, 4U << 20);
  cableway::test::ReceivedMessage landing(4U << 20);
  ASSERT_TRUE(stalled.receiver->post(landing.landing()).ok());
  ASSERT_TRUE(stalled.sender->post(message.buffer(), message.size()).ok());
  fill(stalled);
  Flow other = open(2);
  transfer(other, 8U << 20);
  EXPECT_FALSE(stalled.sender->done(0));
  // It continues when its destination does.
  ASSERT_TRUE(test::run_until([&] { return stalled.sender->done(0); },
                              [&] {
                                ASSERT_TRUE(stalled.sender->progress().ok());
                                ASSERT_TRUE(stalled.receiver->progress().ok());
                              }));
  EXPECT_TRUE(landing.holds(0, message.size()));
}

TEST_F(RelayLoopTest, EndsACircuitWhoseSourceClosesWhileAllSlotsAreFull) {
  auto [source, upstream] = test::connected_pair(65536);
  auto [downstream, destination] = test::connected_pair(65536);
  add(test::sample_setup(1, true), std::move(upstream), std::move(downstream));
  std::vector<std::byte> sent;
  for (std::uint64_t message = 0; message < 256; ++message) {
    const FrameBytes header = encode_frame({FrameKind::kChunk, 65536, message, 0, 65536});
    const cableway::test::SentMessage payload(message, 65536);
    sent.insert(sent.end(), header.begin(), header.end());
    sent.insert(sent.end(), payload.buffer().data, payload.buffer().data + payload.size());
  }
  // Sends as much as fits towards a destination that does not read, and then the end.
  std::size_t taken = 0;
  const int from = source.get();
  ASSERT_FALSE(test::run_until([] { return false; },
                               [&] {
                                 const ssize_t part =
                                     ::send(from, &sent[taken], sent.size() - taken, MSG_DONTWAIT | MSG_NOSIGNAL);
                                 if (part > 0) taken += static_cast<std::size_t>(part);
                                 ::usleep(1000);
                               },
                               std::chrono::milliseconds(300)));
  ASSERT_LT(taken, sent.size()) << "there was room for all of it";
  source.reset();
  ::usleep(50000);
  EXPECT_EQ(closed(), 0U) << "the end was seen before the data ahead of it";
  const std::vector<std::byte> received = test::read_bytes(destination.get(), sent.size());
  wait_until_closed(1);
  EXPECT_THAT(reason_of(0), HasSubstr("node n1 (cable c0 to n0): the peer closed the connection"));
  // What arrives is a prefix of what was sent, except for the reason, which follows a whole chunk.
  const std::size_t whole = received.size() - received.size() % (kFrameHeaderBytes + 65536);
  EXPECT_GT(whole, 0U);
  EXPECT_TRUE(std::equal(received.begin(), received.begin() + static_cast<std::ptrdiff_t>(whole), sent.begin()));
}

// The four buffers of a circuit at its relay, as the kernel reports them.
struct RelayBuffers {
  RelayBuffers(int upstream, int downstream)
      : upstream_receive(size(upstream, SO_RCVBUF)),
        upstream_send(size(upstream, SO_SNDBUF)),
        downstream_receive(size(downstream, SO_RCVBUF)),
        downstream_send(size(downstream, SO_SNDBUF)) {}
  static int size(int socket, int option) {
    int bytes = 0;
    socklen_t length = sizeof bytes;
    EXPECT_EQ(::getsockopt(socket, SOL_SOCKET, option, &bytes, &length), 0);
    return bytes;
  }
  void expect_floor() const {
    EXPECT_EQ(downstream_send, 2 * kFloorSendBytes);
    expect_the_rest();
  }
  void expect_the_rest() const {
    EXPECT_EQ(upstream_receive, 2 * kReceiveBufferBytes);
    EXPECT_EQ(upstream_send, 2 * kControlBufferBytes);
    EXPECT_EQ(downstream_receive, 2 * kControlBufferBytes);
  }
  int upstream_receive;
  int upstream_send;
  int downstream_receive;
  int downstream_send;
};

TEST_F(RelayLoopTest, HasALargeSendBufferOnlyWhileItHoldsALease) {
  auto [source, upstream] = test::connected_pair();
  auto [downstream, destination] = test::connected_pair();
  const int up = upstream.get();
  const int down = downstream.get();
  for (const int socket : {up, down}) EXPECT_TRUE(prepare_data_socket(socket).ok());
  add(test::sample_setup(1, true), std::move(upstream), std::move(downstream));
  RelayBuffers(up, down).expect_floor();
  Flow flow = flow_between(std::move(source), std::move(destination), 65536);
  transfer(flow, 100);
  RelayBuffers(up, down).expect_floor();
  // More than the buffers hold, and the destination does not read.
  const cableway::test::SentMessage message(1, 32U << 20);
  cableway::test::ReceivedMessage landing(message.size());
  ASSERT_TRUE(flow.receiver->post(landing.landing()).ok());
  ASSERT_TRUE(flow.sender->post(message.buffer(), message.size()).ok());
  ASSERT_TRUE(
      test::run_until([&] { return relay_memory().leased == 1; }, [&] { ASSERT_TRUE(flow.sender->progress().ok()); }));
  ASSERT_TRUE(test::run_until([&] { return RelayBuffers(up, down).downstream_send > 2 * kFloorSendBytes; }, [] {}));
  RelayBuffers(up, down).expect_the_rest();
  // The lease is held while it contains data, and is returned afterwards.
  ::usleep(2'000'000);
  EXPECT_EQ(relay_memory().leased, 1U);
  finish(flow, 1);
  EXPECT_TRUE(landing.holds(1, message.size()));
  ASSERT_TRUE(test::run_until([&] { return relay_memory().leased == 0; }, [] { ::usleep(10000); }));
  RelayBuffers(up, down).expect_floor();
  EXPECT_EQ(relay_memory().floors, floor_memory());
  // The circuit still works.
  transfer(flow, 8U << 20);
}

TEST_F(RelayLoopTest, LeasesNothingForMessagesThatPassImmediately) {
  Flow flow = open(1);
  for (int i = 0; i < 200; ++i) transfer(flow, 8);
  const RelayMemoryStatus memory = relay_memory();
  EXPECT_EQ(memory.max_leased, 0U);
  EXPECT_EQ(memory.waits, 0U);
  EXPECT_EQ(memory.leases, kLeases);
}

TEST_F(RelayLoopTest, MovesEveryByteWithoutAnyLease) {
  start_loop(0);
  std::vector<Flow> flows;
  for (std::uint64_t i = 0; i < 4; ++i) flows.push_back(open(i, 0, 1U << 20, 2));
  for (Flow& flow : flows) transfer(flow, (8U << 20) + 5);
  const RelayMemoryStatus memory = relay_memory();
  EXPECT_EQ(memory.leases, 0U);
  EXPECT_EQ(memory.max_leased, 0U);
  EXPECT_GT(memory.waits, 0U);
}

TEST_F(RelayLoopTest, LeasesASlotThatADeadCircuitLeftFull) {
  start_loop(1);
  {
    Flow dead = open(1);
    const cableway::test::SentMessage message(0, 32U << 20);
    cableway::test::ReceivedMessage landing(message.size());
    ASSERT_TRUE(dead.receiver->post(landing.landing()).ok());
    ASSERT_TRUE(dead.sender->post(message.buffer(), message.size()).ok());
    ASSERT_TRUE(test::run_until([&] { return relay_memory().leased == 1; }, [&] { fill(dead); }));
    fill(dead);
    EXPECT_EQ(relay_memory().leased, 1U);
  }
  wait_until_closed(1);
  ASSERT_TRUE(test::run_until([&] { return relay_memory().leased == 0; }, [] { ::usleep(1000); }));
  Flow next = open(2);
  // Sampled meanwhile, because the circuit returns the slot once it rests.
  bool used_again = false;
  transfer(next, 32U << 20, [&] { used_again = used_again || relay_memory().leased == 1; });
  EXPECT_TRUE(used_again);
}

// One message after the other over one flow, whose receiver reads rarely, so that its relay is full most of the time.
class SlowStream {
 public:
  explicit SlowStream(Flow flow) : flow_(std::move(flow)) {}
  void step() {
    if (!message_) begin();
    ASSERT_TRUE(flow_.sender->progress().ok());
    if (++steps_ % 50 != 0) return;
    ASSERT_TRUE(flow_.receiver->progress().ok());
    if (!flow_.sender->done(number_)) return;
    EXPECT_TRUE(landing_->holds(number_, kBytes));
    message_.reset();
  }

 private:
  static constexpr std::size_t kBytes = 16U << 20;
  void begin() {
    number_ = flow_.sender->next();
    message_.emplace(number_, kBytes);
    landing_.emplace(kBytes);
    ASSERT_TRUE(flow_.receiver->post(landing_->landing()).ok());
    ASSERT_TRUE(flow_.sender->post(message_->buffer(), kBytes).ok());
  }

  Flow flow_;
  std::uint64_t number_ = 0;
  std::uint64_t steps_ = 0;
  std::optional<cableway::test::SentMessage> message_;
  std::optional<cableway::test::ReceivedMessage> landing_;
};

TEST_F(RelayLoopTest, LeasesInTurnToMoreCircuitsThanLeases) {
  start_loop(1);
  std::vector<std::unique_ptr<SlowStream>> streams;
  streams.reserve(3);
  for (std::uint64_t i = 0; i < 3; ++i) streams.push_back(std::make_unique<SlowStream>(open(i, 0, 1U << 18)));
  // Two circuits wait for the first one's lease; a third wait means that it was passed on.
  ASSERT_TRUE(test::run_until([&] { return relay_memory().waits > 4; },
                              [&] {
                                for (const auto& stream : streams) stream->step();
                              }));
  EXPECT_EQ(relay_memory().max_leased, 1U);
  EXPECT_EQ(loop_->status().circuits.size(), 3U);
  EXPECT_EQ(loop_->counts().circuits_open, 3U);
  EXPECT_TRUE(loop_->counts().circuits.empty());
  EXPECT_EQ(out_of_leases_, 1) << "reported once, and not again for a minute";
  streams.clear();
  ASSERT_TRUE(test::run_until([&] { return relay_memory().leased == 0; }, [] { ::usleep(10000); }));
}

TEST_F(RelayLoopTest, ReportsItsShutdownToCircuits) {
  Flow flow = open(1);
  transfer(flow, 1000);
  loop_.reset();
  EXPECT_THAT(failure_of([&] { return flow.sender->progress(); }),
              AllOf(HasSubstr("node n1"), HasSubstr("is shutting down")));
}

// The relay relies on epoll to learn of data to read: sizes and chunks on both sides of every boundary, to find lost
// wake-ups that leave data unread.
struct Shape {
  const char* name;
  std::size_t relays;
  int buffer_bytes;
  std::uint32_t chunk_bytes;
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.name;
}

class RelayLoopShapes : public RelayLoopTest, public testing::WithParamInterface<Shape> {};

INSTANTIATE_TEST_SUITE_P(
    Shapes, RelayLoopShapes,
    testing::Values(Shape{"small_chunks", 1, 0, 256}, Shape{"small_chunks_through_small_buffers", 1, 4096, 256},
                    Shape{"all_head", 1, 0, PipeSlot::kHeadBytes},
                    Shape{"just_more_than_a_head", 1, 0, PipeSlot::kHeadBytes + 128},
                    Shape{"just_more_than_a_head_through_small_buffers", 1, 4096, PipeSlot::kHeadBytes + 128},
                    Shape{"large_chunks", 1, 0, 1U << 20},
                    Shape{"large_chunks_through_small_buffers", 1, 8192, 1U << 20},
                    Shape{"three_relays", 3, 65536, 1U << 18}),
    [](const testing::TestParamInfo<Shape>& shape) { return std::string(shape.param.name); });

TEST_P(RelayLoopShapes, DeliversSizesAtEveryBoundary) {
  std::mt19937 random(11);
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    Flow flow = open(seed, GetParam().buffer_bytes, GetParam().chunk_bytes, GetParam().relays);
    const std::vector<std::size_t> sizes =
        cableway::test::random_sizes(random, 40, std::min(GetParam().chunk_bytes, 1U << 16));
    cableway::test::FlowScript script(*flow.sender, *flow.receiver, sizes, seed);
    absl::Status status;
    const bool finished = test::run_until([&] { return script.finished() || !status.ok(); },
                                          [&] {
                                            if (random() % 2 == 0) script.post_send();
                                            if (random() % 2 == 0) script.post_receive();
                                            status.Update(flow.sender->progress());
                                            status.Update(flow.receiver->progress());
                                            script.notice_done();
                                            script.check_order();
                                            if (random() % 8 == 0) ::usleep(50);  // the relay runs dry, and sleeps
                                          });
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(finished) << "stalled after " << script.receives_done() << " of " << sizes.size() << " messages";
    EXPECT_TRUE(script.no_late_writes());
  }
}

}  // namespace
}  // namespace cableway::host
