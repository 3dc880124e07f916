// Flows that have ended are remembered for a while: those that NCCL has closed at their destination for a source that
// has lost the last acknowledgement with its circuits, the reasons of others for an end that could not be told.
#include "nccl_adapter/process/process_flows.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/circuit/flow_proof.h"
#include "tests/core/flow_circuits/played_paths.h"
#include "tests/nccl_adapter/fake_hop.h"

namespace cableway::nccl {
namespace {

constexpr std::size_t kRemembered = 256;
constexpr std::size_t kClosedBytes = 4096;

class ClosedFlowsTest : public testing::Test {
 protected:
  static FlowNonce nonce_of(std::uint64_t number) {
    FlowNonce nonce{};
    std::memcpy(nonce.data(), &number, sizeof number);
    return nonce;
  }
  static CircuitSetup setup_of(std::uint64_t number, const CircuitName& circuit) {
    CircuitSetup setup = test::setup_over("a.eth0-b.eth1", "a", "b", circuit);
    setup.nonce = nonce_of(number);
    setup.chunk_bytes = kClosedBytes;
    return setup;
  }
  std::shared_ptr<RecvComm> arrive(std::uint64_t number) {
    auto comm = std::make_shared<RecvComm>(FlowComm::Origin{reinterpret_cast<Context&>(context_), "flow from node a",
                                                            "b", Log(nullptr), [](FlowComm*) {}, false});
    FlowIdentity identity;
    identity.nonce = nonce_of(number);
    identity.cookie[0] = std::byte{7};
    identity.destination_node = "b";
    flows_.arrived(comm, identity, setup_of(number, {0, 1}), {"tcp", "a test"});
    return comm;
  }
  void close(const std::shared_ptr<RecvComm>& comm) {
    comm->close();
    flows_.closed(comm.get(), "");
  }
  std::shared_ptr<RecvComm> find(std::uint64_t number) { return flows_.find_destination(nonce_of(number)).comm; }
  void pass(std::chrono::seconds time) {
    paths_.clock.run_for(time);
    flows_.check();
  }

  alignas(std::max_align_t) std::array<std::byte, 1024> context_{};  // passed on, and never accessed
  std::array<std::byte, kClosedBytes> bytes_{};
  cableway::test::PlayedPaths paths_;
  FlowReports reports_;
  ProcessFlows flows_{paths_.means,
                      {.open = std::chrono::seconds(10), .path_wait = std::chrono::seconds(30), .chunk_bytes = 65536},
                      reports_,
                      Log(nullptr),
                      [](std::vector<host::UniqueFd>) {}};
};

TEST_F(ClosedFlowsTest, AnswerWithTheLastAcknowledgementAndTheEnd) {
  const std::shared_ptr<RecvComm> comm = arrive(1);
  test::FakeHop first = test::make_tcp_hop();
  ASSERT_TRUE(comm->join(setup_of(1, {0, 1}), std::move(first.connection)).ok());
  MemoryRegion* const region = comm->register_memory({.data = bytes_.data(), .bytes = bytes_.size()}).value();
  Request* const request = comm->receive(bytes_.data(), bytes_.size(), region).value();
  const std::array<std::byte, kClosedBytes> payload{};
  host::test::write_frame(first.other_end.get(), Frame{FrameKind::kChunk, kClosedBytes, 0, 0, kClosedBytes}, payload);
  ASSERT_TRUE(host::test::run_until(
      [done = false, &comm, request]() mutable { return done = done || comm->test(request).value().done; }, [] {}));
  first.other_end.reset();  // the acknowledgement is lost with the circuit
  close(comm);

  const ProcessFlows::Destination found = flows_.find_destination(nonce_of(1));
  ASSERT_EQ(found.comm, comm);
  EXPECT_EQ(found.cookie[0], std::byte{7});
  test::FakeHop second = test::make_tcp_hop();
  EXPECT_TRUE(found.comm->join(setup_of(1, {1, 1}), std::move(second.connection)).ok());
  Frame answer;
  do {
    answer = host::test::read_frame(second.other_end.get());
  } while (answer.kind == FrameKind::kRetired);
  EXPECT_EQ(answer.kind, FrameKind::kAck);
  EXPECT_EQ(answer.message, 0U);
  const Frame end = host::test::read_frame(second.other_end.get());
  EXPECT_EQ(end, failed_frame(end.payload, FailureScope::kFlow));
  EXPECT_EQ(host::test::read_text(second.other_end.get(), end.payload), "node b: this end has closed the flow");
}

TEST_F(ClosedFlowsTest, AreForgottenAfterAMinute) {
  close(arrive(1));
  pass(std::chrono::seconds(30));
  close(arrive(2));
  pass(std::chrono::seconds(29));
  EXPECT_NE(find(1), nullptr);
  pass(std::chrono::seconds(1));
  EXPECT_EQ(find(1), nullptr);
  EXPECT_NE(find(2), nullptr);
}

TEST_F(ClosedFlowsTest, TheOldestAreForgottenIfThereAreMany) {
  for (std::uint64_t number = 0; number < kRemembered; ++number) close(arrive(number));
  EXPECT_NE(find(0), nullptr);
  close(arrive(kRemembered));
  EXPECT_EQ(find(0), nullptr);
  EXPECT_NE(find(1), nullptr);
  EXPECT_NE(find(kRemembered), nullptr);
}

TEST_F(ClosedFlowsTest, ThatLackMessagesAnswerNothing) {
  const std::shared_ptr<RecvComm> comm = arrive(1);
  MemoryRegion* const region = comm->register_memory({.data = bytes_.data(), .bytes = bytes_.size()}).value();
  ASSERT_NE(comm->receive(bytes_.data(), bytes_.size(), region).value(), nullptr);
  EXPECT_EQ(find(1), comm);
  close(comm);
  EXPECT_EQ(find(1), nullptr);
}

class EndedFlowsTest : public ClosedFlowsTest {
 protected:
  static FlowIdentity identity_of(std::uint64_t number) {
    FlowIdentity identity;
    identity.nonce = nonce_of(number);
    identity.cookie[0] = std::byte{7};
    identity.source_node = "a";
    identity.destination_node = "b";
    return identity;
  }
  static CircuitSetup proved(CircuitSetup setup, std::uint8_t cookie = 7) {
    Cookie its{};
    its[0] = std::byte{cookie};
    add_flow_proof(its, setup);
    return setup;
  }
  static CircuitSetup inquiry_of(std::uint64_t number, std::uint8_t cookie = 7) {
    CircuitSetup setup = test::setup_over("a.eth0-b.eth1", "b", "a");
    setup.purpose = SetupPurpose::kInquiry;
    setup.nonce = nonce_of(number);
    return proved(setup, cookie);
  }
  std::shared_ptr<SendComm> open(std::uint64_t number) {
    auto comm = std::make_shared<SendComm>(FlowComm::Origin{reinterpret_cast<Context&>(context_), "flow to node b", "a",
                                                            Log(nullptr), [](FlowComm*) {}, false});
    paths_.offers = {cableway::test::path_over({{"ab", "b"}})};
    flows_.open(comm, identity_of(number));  // reserves the name of the first circuit
    return comm;
  }
  // With a message that is not done.
  std::shared_ptr<SendComm> open_busy(std::uint64_t number) {
    std::shared_ptr<SendComm> comm = open(number);
    hops_.push_back(test::make_tcp_hop());
    EXPECT_TRUE(comm->join(setup_of(number, {0, 1}), std::move(hops_.back().connection)).ok());
    EXPECT_NE(comm->send(bytes_.data(), 0, nullptr).value(), nullptr);
    return comm;
  }
  std::optional<std::string> answer(std::uint64_t number, std::uint8_t cookie = 7) {
    const ProcessFlows::Answer answer = flows_.asked(inquiry_of(number, cookie));
    EXPECT_FALSE(answer.open);
    return answer.why_ended;
  }
  void close_source(const std::shared_ptr<SendComm>& comm) {
    comm->close();
    flows_.closed(comm.get(), comm->failure());
  }

  std::vector<test::FakeHop> hops_;
};

TEST_F(EndedFlowsTest, ASourceThatHasFailedIsAskedForItsReason) {
  const std::shared_ptr<SendComm> comm = open_busy(1);
  EXPECT_TRUE(flows_.asked(inquiry_of(1)).open);
  comm->end(absl::UnavailableError("node m: cable c1 is lost"));
  EXPECT_EQ(answer(1), "node m: cable c1 is lost");
  close_source(comm);
  EXPECT_EQ(answer(1), "node m: cable c1 is lost") << "NCCL closes what has failed";
  pass(std::chrono::seconds(60));
  EXPECT_EQ(answer(1), std::nullopt);
}

TEST_F(EndedFlowsTest, AnIdleSourceThatHasFailedIsAskedForItsReason) {
  const std::shared_ptr<SendComm> comm = open(1);
  comm->end(absl::UnavailableError("node m: cable c1 is lost"));
  EXPECT_EQ(comm->failure(), "") << "nothing was lost";
  close_source(comm);
  EXPECT_EQ(answer(1), "node m: cable c1 is lost");
}

TEST_F(EndedFlowsTest, ASourceThatNcclHasClosedSaysSo) {
  close_source(open_busy(1));
  EXPECT_EQ(answer(1), "node a: the application has closed the flow");
}

constexpr char kClosed[] = "node a: the application has closed the flow";
constexpr char kFlow[] = "flow to node b (a -a.eth0-b.eth1-> b) failed: ";
constexpr char kLost[] = "node a port eth3 (cable to d eth0): the port has lost its carrier";

// NCCL closes all flows of a job once one of them has failed.
TEST_F(EndedFlowsTest, AFlowThatIsClosedAfterAnothersFailureNamesThat) {
  const std::shared_ptr<SendComm> failed = open_busy(1);
  const std::shared_ptr<SendComm> healthy = open_busy(2);
  failed->end(absl::UnavailableError(kLost));
  flows_.look_at(failed.get());
  close_source(healthy);
  EXPECT_EQ(answer(2), absl::StrCat(kClosed, "; the job's first failure: ", kFlow, kLost));
  close_source(failed);
  EXPECT_EQ(answer(1), kLost);
}

TEST_F(EndedFlowsTest, AFailureThatAnotherRankNamesIsPassedOnAlone) {
  const std::shared_ptr<SendComm> failed = open_busy(1);
  const std::shared_ptr<SendComm> healthy = open_busy(2);
  failed->end(absl::NotFoundError(
      absl::StrCat("its other end has ended (seen here as: node a port eth0 (cable to b eth1): the peer closed the "
                   "connection): node b: the application has closed the flow; the job's first failure: ",
                   "flow to node c failed: ", kLost)));
  close_source(failed);
  close_source(healthy);
  EXPECT_EQ(answer(2), absl::StrCat(kClosed, "; the job's first failure: flow to node c failed: ", kLost));
}

TEST_F(EndedFlowsTest, AFailureOfAnEarlierJobIsNoCause) {
  const std::shared_ptr<SendComm> failed = open_busy(1);
  failed->end(absl::UnavailableError(kLost));
  close_source(failed);
  pass(std::chrono::seconds(60));
  close_source(open_busy(2));
  EXPECT_EQ(answer(2), kClosed);
}

TEST_F(EndedFlowsTest, ADestinationThatHasFailedIsAskedForItsReason) {
  const std::shared_ptr<RecvComm> comm = arrive(1);
  test::FakeHop hop = test::make_tcp_hop();
  ASSERT_TRUE(comm->join(setup_of(1, {0, 1}), std::move(hop.connection)).ok());
  MemoryRegion* const region = comm->register_memory({.data = bytes_.data(), .bytes = bytes_.size()}).value();
  ASSERT_NE(comm->receive(bytes_.data(), bytes_.size(), region).value(), nullptr);
  EXPECT_TRUE(flows_.asked(inquiry_of(1)).open);
  const CircuitSetup further = proved(setup_of(1, {1, 1}));
  EXPECT_EQ(flows_.why_ended(further), std::nullopt);
  comm->end(absl::UnavailableError("node m: cable c1 is lost"));
  EXPECT_EQ(flows_.why_ended(further), "node m: cable c1 is lost");
  EXPECT_EQ(answer(1), "node m: cable c1 is lost");
  close(comm);
  EXPECT_EQ(flows_.why_ended(further), "node m: cable c1 is lost");
  EXPECT_EQ(flows_.why_ended(proved(setup_of(2, {0, 1}))), std::nullopt);
}

// The last circuit has ended for another one in its slot, which cannot carry the flow's GPU memory.
TEST_F(EndedFlowsTest, ADestinationWhoseCircuitWasReplacedInVainEndsInTime) {
  host::test::FakeVerbs verbs;
  host::test::FakeVerbsDevice& fake = verbs.add("mlx5_0");
  const std::shared_ptr<RecvComm> comm = arrive(1);
  test::FakeHop rdma = test::make_rdma_hop(verbs.open(fake), fake.gid);
  ASSERT_TRUE(comm->join(setup_of(1, {0, 1}), std::move(rdma.connection)).ok());
  std::array<std::byte, kClosedBytes> gpu{};
  ASSERT_TRUE(comm->register_memory({.kind = NamedMemory::Kind::kPeer, .data = gpu.data(), .bytes = gpu.size()}).ok());
  MemoryRegion* const region = comm->register_memory({.data = bytes_.data(), .bytes = bytes_.size()}).value();
  test::FakeHop tcp = test::make_tcp_hop();
  EXPECT_FALSE(comm->join(setup_of(1, {0, 2}), std::move(tcp.connection)).ok());
  flows_.look_at(comm.get());
  ASSERT_NE(comm->receive(bytes_.data(), bytes_.size(), region).value(), nullptr);
  pass(std::chrono::seconds(29));
  EXPECT_EQ(comm->failure(), "");
  pass(std::chrono::seconds(2));
  EXPECT_NE(comm->failure(), "");
  close(comm);
}

TEST_F(EndedFlowsTest, ADestinationThatHasAllMessagesStillHasTheFlow) {
  close(arrive(1));
  EXPECT_TRUE(flows_.asked(inquiry_of(1)).open) << "the source lacks the last acknowledgement, but nothing is lost";
}

// Cut off from each other, both give up together.
TEST_F(EndedFlowsTest, AFlowWaitsForTheShorterTimeOfItsEnds) {
  auto comm = std::make_shared<RecvComm>(FlowComm::Origin{reinterpret_cast<Context&>(context_), "flow from node a", "b",
                                                          Log(nullptr), [](FlowComm*) {}, false});
  FlowIdentity identity = identity_of(1);
  identity.path_wait = std::chrono::seconds(3);
  flows_.arrived(comm, identity, setup_of(1, {0, 1}), {"tcp", "a test"});
  test::FakeHop hop = test::make_tcp_hop();
  ASSERT_TRUE(comm->join(setup_of(1, {0, 1}), std::move(hop.connection)).ok());
  MemoryRegion* const region = comm->register_memory({.data = bytes_.data(), .bytes = bytes_.size()}).value();
  ASSERT_NE(comm->receive(bytes_.data(), bytes_.size(), region).value(), nullptr);
  comm->end_circuit({0, 1}, absl::UnavailableError("cut"));
  flows_.look_at(comm.get());
  pass(std::chrono::seconds(2));
  EXPECT_EQ(comm->failure(), "");
  pass(std::chrono::seconds(2));
  EXPECT_NE(comm->failure(), "");
  close(comm);
}

TEST_F(EndedFlowsTest, WhoHasNoListenHandleLearnsNothing) {
  const std::shared_ptr<SendComm> comm = open_busy(1);
  comm->end(absl::UnavailableError("node m: cable c1 is lost"));
  EXPECT_EQ(answer(1, 8), std::nullopt);
  close_source(comm);
  EXPECT_EQ(answer(1, 8), std::nullopt);
  EXPECT_NE(answer(1), std::nullopt);
}

TEST_F(EndedFlowsTest, NoMoreOfAReasonIsKeptThanIsSent) {
  EndedFlows ended;
  ended.add(identity_of(1), std::string(10 * kMaxFailureText, 'x'), {});
  EXPECT_EQ(ended.find(inquiry_of(1)), std::string(kMaxFailureText, 'x'));
}

TEST_F(EndedFlowsTest, TheOldestReasonIsForgottenIfThereAreMany) {
  EndedFlows ended;
  for (std::uint64_t number = 0; number <= EndedFlows::kMost; ++number) ended.add(identity_of(number), "cut", {});
  EXPECT_EQ(ended.find(inquiry_of(0)), std::nullopt);
  EXPECT_EQ(ended.find(inquiry_of(1)), "cut");
  EXPECT_EQ(ended.find(inquiry_of(EndedFlows::kMost)), "cut");
  ended.add(identity_of(1), "cut again", {});
  EXPECT_EQ(ended.find(inquiry_of(1)), "cut") << "the first reason is the cause";
}

}  // namespace
}  // namespace cableway::nccl
