// NCCL takes memory back (deregMr), or ends a comm, while the flow has several circuits: one is being set up, has
// chunks in limbo, or has just been fenced at the receiver. Once the call has returned no circuit reads or writes the
// memory, and the other end learns why the flow has ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/linux/tcp/lingering_close.h"
#include "core/linux/tcp/tcp_transport.h"
#include "nccl_adapter/comm/recv_comm.h"
#include "nccl_adapter/comm/send_comm.h"
#include "tests/conformance/ranks/guarded_buffer.h"
#include "tests/nccl_adapter/fake_hop.h"
#include "tests/nccl_adapter/stub_hop.h"

namespace cableway::nccl {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

enum class Over : std::uint8_t { kTcp, kRdma };
enum class At : std::uint8_t { kSource, kDestination };
enum class While : std::uint8_t {
  kDialled,            // a circuit is being set up, and has reached no end
  kOpenAtDestination,  // it has joined there, and its source has no answer yet
  kInLimbo,            // the source has ended one, and waits for the count of what has landed over it
  kFenced,             // the destination has fenced one and reported it, and the source has not read that yet
};
enum class How : std::uint8_t { kDeregister, kClose, kAbandon };

constexpr std::size_t kTransferBytes = 4U << 20;
constexpr std::size_t kPartBytes = kTransferBytes / 8;
constexpr std::uint32_t kTransferChunk = 16U << 10;
constexpr int kSocketBuffer = 64 << 10;  // so that the connections do not hold the whole message
constexpr std::byte kEmpty{0x11};
constexpr std::byte kContent{0x22};
constexpr std::byte kReused{0x33};
constexpr std::chrono::seconds kLearns{30};  // much longer than it takes
constexpr char kGivenUp[] = "its communicator was given up";

// A flow over several circuits, each over devices of its own, with one message.
class Transfer {
 public:
  // `further`: the share of the circuits after the first.
  explicit Transfer(Over over, CircuitShare further = CircuitShare::kBundle) : over_(over), further_(further) {
    from_ = source_.register_memory({.data = sent_.data(), .bytes = kTransferBytes}).value();
    to_ = destination_.register_memory({.data = landed_.data(), .bytes = kTransferBytes}).value();
    for (int circuits = 0; circuits < 2; ++circuits) {
      Dial dial = begin_circuit();
      EXPECT_TRUE(join_at_destination(dial).ok());
      EXPECT_TRUE(join_at_source(dial).ok());
    }
  }

  struct Dial {
    CircuitSetup setup;
    test::HopEnds ends;
  };
  Dial begin_circuit() {
    const CircuitName name = source_.reserve().value();
    CircuitSetup setup = test::setup_over("a.eth0-b.eth0", "a", "b", name);
    setup.chunk_bytes = kTransferChunk;
    // Those of a bundle all carry chunks, and have the message's landing.
    setup.share = name.slot == 0 ? CircuitShare::kBundle : further_;
    return {setup, make_hop()};
  }
  absl::Status join_at_source(Dial& dial) {
    absl::Status joined = source_.join(dial.setup, std::move(dial.ends.source));
    if (!joined.ok()) source_.release(dial.setup.circuit);
    return joined;
  }
  absl::Status join_at_destination(Dial& dial) {
    return destination_.join(dial.setup, std::move(dial.ends.destination));
  }

  void post() {
    receive_ = destination_.receive(landed_.data(), kTransferBytes, to_).value();
    send_ = source_.send(sent_.data(), kTransferBytes, from_).value();
    for (test::StubPort& port : ports_) port.in_use = true;
  }
  // Moves until a part of the message has landed.
  void run_half_way() {
    ASSERT_TRUE(host::test::run_until([&] { return landed_.data()[kPartBytes] != kEmpty; }, [&] { turn(); }));
    ASSERT_TRUE(std::count(landed_.data(), landed_.data() + kTransferBytes, kEmpty) > 0);
    ASSERT_EQ(source_.live(), 2U);
    ASSERT_EQ(destination_.live(), 2U);
  }
  void turn() {
    static_cast<void>(source_.test(send_));
    static_cast<void>(destination_.test(receive_));
    move();
  }
  // What is on the wires, and in connections that are being closed.
  void move() {
    for (int steps = 0; steps < 40 && network_.step(); ++steps) {
    }
    io_.restart();
    io_.poll();
  }

  void get_into(While state) {
    const CircuitName first{0, 1};
    switch (state) {
      case While::kDialled:
        late_ = begin_circuit();
        return;
      case While::kOpenAtDestination:
        late_ = begin_circuit();
        ASSERT_TRUE(join_at_destination(late_).ok());
        return;
      case While::kInLimbo:
        source_.end_circuit(first, absl::UnavailableError("the cable was pulled"));
        static_cast<void>(source_.test(send_));
        ASSERT_EQ(source_.live(), 1U);
        ASSERT_EQ(destination_.live(), 2U);
        late_ = begin_circuit();
        return;
      case While::kFenced:
        destination_.end_circuit(first, absl::UnavailableError("the cable was pulled"));
        static_cast<void>(destination_.test(receive_));
        ASSERT_EQ(source_.live(), 2U);
        ASSERT_EQ(destination_.live(), 1U);
        late_ = begin_circuit();
        return;
    }
  }

  // From its return on nothing may use the memory of that end.
  void take_back(At end, How how) {
    FlowComm& comm = comm_at(end);
    switch (how) {
      case How::kDeregister:
        EXPECT_TRUE(comm.deregister_memory(end == At::kSource ? from_ : to_).ok());
        break;
      case How::kClose:
        drain(comm.close());
        break;
      case How::kAbandon:
        drain(comm.abandon(kGivenUp));
        break;
    }
    GuardedBuffer& memory = end == At::kSource ? sent_ : landed_;
    memory.fill(kReused);
    memory.forbid();
    for (std::size_t port = end == At::kSource ? 0 : 1; port < ports_.size(); port += 2) {
      EXPECT_EQ(ports_[port].regions, 0U) << "at port " << port;
      EXPECT_FALSE(ports_[port].released_too_early) << "at port " << port;
    }
  }
  // The set-up goes on where the flow has ended.
  void finish_late_circuit(At taken_back) {
    if (late_.ends.destination.end != nullptr) {
      const absl::Status joined = join_at_destination(late_);
      EXPECT_TRUE(taken_back == At::kSource || !joined.ok());
    }
    const absl::Status joined = join_at_source(late_);
    EXPECT_TRUE(taken_back == At::kDestination || !joined.ok());
  }

  // Why the other end's flow has failed, or, where it has not, why its last circuit has ended.
  std::string other_end_learns(At taken_back) {
    FlowComm& other = comm_at(taken_back == At::kSource ? At::kDestination : At::kSource);
    Request* const request = taken_back == At::kSource ? receive_ : send_;
    absl::Status status;
    EXPECT_TRUE(host::test::run_until([&] { return !status.ok() || other.live() == 0; },
                                      [&] {
                                        status = other.test(request).status();
                                        move();
                                      },
                                      kLearns));
    network_.deliver_all();
    return std::string(status.ok() ? other.take_ended().reason.message() : status.message());
  }

  void end() {
    drain(source_.close());
    drain(destination_.close());
    network_.deliver_all();
    sent_.allow();
    landed_.allow();
    for (const test::StubPort& port : ports_) {
      EXPECT_EQ(port.regions, 0U);
      EXPECT_FALSE(port.released_too_early);
      EXPECT_EQ(port.device.registrations(), late_mailboxes(port)) << "a queue pair is left";
    }
    EXPECT_TRUE(network_.misuse().ok()) << network_.misuse();
    EXPECT_EQ(network_.changed_too_early(), 0U);
  }
  bool has(At end, std::byte value) const {
    const std::span<const std::byte> bytes = (end == At::kSource ? sent_ : landed_).bytes();
    return std::find(bytes.begin(), bytes.end(), value) != bytes.end();
  }
  bool all_are(At end, std::byte value) const {
    const std::span<const std::byte> bytes = (end == At::kSource ? sent_ : landed_).bytes();
    return std::all_of(bytes.begin(), bytes.end(), [&](std::byte each) { return each == value; });
  }

  absl::Status join_late_circuit_at_source() { return join_at_source(late_); }
  void run_to_the_end() {
    bool sent = false;
    bool received = false;
    EXPECT_TRUE(host::test::run_until([&] { return sent && received; },
                                      [&] {
                                        sent = sent || source_.test(send_).value().done;
                                        received = received || destination_.test(receive_).value().done;
                                        move();
                                      }));
    for (test::StubPort& port : ports_) port.in_use = false;
  }

  RecvComm& destination() { return destination_; }
  const std::deque<test::StubPort>& ports() const { return ports_; }

 private:
  using GuardedBuffer = test::GuardedBuffer;

  FlowComm::Origin origin(const char* flow, const char* node) {
    return {reinterpret_cast<Context&>(context_), flow, node, Log(nullptr), [](FlowComm*) {}};
  }
  FlowComm& comm_at(At end) { return end == At::kSource ? static_cast<FlowComm&>(source_) : destination_; }
  test::HopEnds make_hop() {
    if (over_ == Over::kTcp) {
      auto [here, there] = host::test::connected_pair(kSocketBuffer);
      return {{std::move(here), host::make_tcp_end(), "a test", kTransferChunk},
              {std::move(there), host::make_tcp_end(), "a test", kTransferChunk}};
    }
    test::StubPort& near = ports_.emplace_back(test::StubPort{network_, network_.add_device()});
    test::StubPort& far = ports_.emplace_back(test::StubPort{network_, network_.add_device()});
    return test::make_stub_hop(near, far, kTransferChunk);
  }
  // As a process does, so that the other end gets the last frames.
  void drain(std::vector<host::UniqueFd> sockets) {
    for (host::UniqueFd& socket : sockets) host::close_lingering(io_, std::move(socket));
    io_.restart();
    io_.poll();
  }
  static std::size_t late_mailboxes(const test::StubPort& port) {
    return port.network.find(port.queue_pair) == nullptr ? 0 : 1;
  }

  const Over over_;
  const CircuitShare further_;
  alignas(std::max_align_t) std::array<std::byte, 1024> context_{};  // passed on, and never accessed
  boost::asio::io_context io_;
  GuardedBuffer sent_{kTransferBytes, kContent};
  GuardedBuffer landed_{kTransferBytes, kEmpty};
  // Writes that a fence finds on the wire land later.
  sim::StubNetwork network_{{.seed = 7, .max_late_writes = 8, .lost_acknowledgements = 10}};
  std::deque<test::StubPort> ports_;  // of each circuit the source's, then the destination's
  Dial late_;
  SendComm source_{origin("flow to node b", "a")};
  RecvComm destination_{origin("flow from node a", "b")};
  MemoryRegion* from_ = nullptr;
  MemoryRegion* to_ = nullptr;
  Request* send_ = nullptr;
  Request* receive_ = nullptr;
};

using MemoryTakenBackCase = std::tuple<Over, At, While, How>;

class MemoryTakenBackTest : public testing::TestWithParam<MemoryTakenBackCase> {};

TEST_P(MemoryTakenBackTest, IsNotUsedAnyMoreAndTheOtherEndKnows) {
  const auto [over, end, state, how] = GetParam();
  Transfer flow(over);
  flow.post();
  ASSERT_NO_FATAL_FAILURE(flow.run_half_way());
  ASSERT_NO_FATAL_FAILURE(flow.get_into(state));
  flow.take_back(end, how);
  flow.move();
  flow.finish_late_circuit(end);
  const std::string why = flow.other_end_learns(end);
  const std::string node = end == At::kSource ? "node a: " : "node b: ";
  // In the middle of a chunk, and while the kernel has no room for a frame, a TCP connection can carry no reason.
  const bool may_break_off = over == Over::kTcp && end == At::kSource;
  const char* const broken_off = may_break_off ? "the peer closed the connection" : "\n";
  switch (how) {
    case How::kDeregister:
      EXPECT_THAT(why, AnyOf(HasSubstr(node + "its memory was deregistered while in use"), HasSubstr(broken_off)));
      break;
    case How::kClose:
      EXPECT_THAT(why, HasSubstr("the peer closed the connection"));
      break;
    case How::kAbandon:
      EXPECT_THAT(why, AnyOf(HasSubstr(node + kGivenUp), HasSubstr(broken_off)));
      break;
  }
  flow.end();
  EXPECT_TRUE(flow.all_are(end, kReused));
  // Whatever has landed was sent from it before.
  EXPECT_EQ(flow.has(At::kDestination, kReused), end == At::kDestination);
}

std::string name_of_case(const testing::TestParamInfo<MemoryTakenBackCase>& info) {
  const auto [over, end, state, how] = info.param;
  const std::array<const char*, 2> transports{"Tcp", "Rdma"};
  const std::array<const char*, 2> ends{"Source", "Destination"};
  const std::array<const char*, 4> states{"Dialled", "OpenAtDestination", "InLimbo", "Fenced"};
  const std::array<const char*, 3> ways{"Deregister", "Close", "Abandon"};
  return std::string(transports[static_cast<std::size_t>(over)]) + ends[static_cast<std::size_t>(end)] +
         states[static_cast<std::size_t>(state)] + ways[static_cast<std::size_t>(how)];
}

INSTANTIATE_TEST_SUITE_P(
    Everywhere, MemoryTakenBackTest,
    testing::Combine(testing::Values(Over::kTcp, Over::kRdma), testing::Values(At::kSource, At::kDestination),
                     testing::Values(While::kDialled, While::kOpenAtDestination, While::kInLimbo, While::kFenced),
                     testing::Values(How::kDeregister, How::kClose, How::kAbandon)),
    name_of_case);

// NCCL also deregisters memory of a flow that goes on, as when it replaces its buffers.
TEST(IdleMemoryTakenBackTest, ThatIsNotInUseIsUnknownToTheCircuitThatIsBeingSetUp) {
  for (const Over over : {Over::kTcp, Over::kRdma}) {
    Transfer flow(over);
    test::GuardedBuffer unused(kPartBytes, kEmpty);
    MemoryRegion* const region =
        flow.destination().register_memory({.data = unused.data(), .bytes = kPartBytes}).value();
    flow.get_into(While::kOpenAtDestination);
    EXPECT_TRUE(flow.destination().deregister_memory(region).ok());
    unused.forbid();
    for (const test::StubPort& port : flow.ports()) EXPECT_LE(port.regions, 1U);
    flow.post();
    EXPECT_TRUE(flow.join_late_circuit_at_source().ok());
    flow.run_to_the_end();
    EXPECT_TRUE(flow.all_are(At::kDestination, kContent));
    flow.end();
    unused.allow();
    EXPECT_EQ(std::count(unused.bytes().begin(), unused.bytes().end(), kEmpty),
              static_cast<std::ptrdiff_t>(kPartBytes));
  }
}

// A standby has not had the message's landing, and would get it with the end of the primary.
TEST(StandbyMemoryTakenBackTest, ItsKeysAreNotReadAnyMore) {
  for (const Over over : {Over::kTcp, Over::kRdma}) {
    Transfer flow(over, CircuitShare::kNone);
    flow.post();
    ASSERT_NO_FATAL_FAILURE(flow.run_half_way());
    flow.take_back(At::kDestination, How::kDeregister);
    flow.move();
    EXPECT_NE(flow.other_end_learns(At::kDestination), "");
    flow.end();
    EXPECT_TRUE(flow.all_are(At::kDestination, kReused));
  }
}

}  // namespace
}  // namespace cableway::nccl
