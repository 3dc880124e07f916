// What the relay does when a port of its node stops carrying data, although no connection shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "core/linux/relay/relay_loop.h"
#include "core/linux/tcp/pipe_store.h"
#include "core/linux/tcp/relay_memory.h"
#include "core/linux/tcp/tcp_chunk_link.h"
#include "tests/core/flow/message_buffers.h"
#include "tests/core/linux/hop/sample_setup.h"
#include "tests/core/linux/loopback_sockets.h"
#include "tests/core/linux/relay/circuit_over_tcp.h"

namespace cableway::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kLostCarrier[] = "the port has lost its carrier";

// From n0 through n1 to n2, which share two cables.
class RelayLostPortTest : public testing::Test {
 protected:
  struct Ends {
    std::unique_ptr<TcpChunkLink> source;
    std::unique_ptr<TcpChunkLink> destination;
    std::unique_ptr<FlowSender> sender;
    std::unique_ptr<FlowReceiver> receiver;
  };

  RelayLostPortTest() {
    auto loop = RelayLoop::start({pipes_.get()}, {.spin = std::chrono::microseconds(20)},
                                 {[this](const RelayLoop::Closed& closed) {
                                    const std::lock_guard lock(mutex_);
                                    reasons_.emplace_back(closed.reason.message());
                                  },
                                  [](RelayStore&) {}});
    EXPECT_TRUE(loop.ok()) << loop.status();
    loop_ = *std::move(loop);
  }

  // The names of its cables, whose other ends are eth0 of n0 and eth0 of n2.
  Ends open(const std::string& upstream_port, const std::string& downstream_port) {
    CircuitSetup setup = test::sample_setup(1, true);
    setup.hops[0].cable = "n0.eth0-n1." + upstream_port;
    setup.hops[1].cable = "n1." + downstream_port + "-n2.eth0";
    auto [source, upstream] = test::connected_pair();
    auto [downstream, destination] = test::connected_pair();
    test::add_over_tcp(*loop_, setup, std::move(upstream), std::move(downstream));
    Ends ends;
    ends.source = std::make_unique<TcpChunkLink>(std::move(source), TcpChunkLink::Place::kFlowEnd);
    ends.destination = std::make_unique<TcpChunkLink>(std::move(destination), TcpChunkLink::Place::kFlowEnd);
    ends.sender = std::make_unique<FlowSender>(*ends.source, setup.chunk_bytes);
    ends.receiver = std::make_unique<FlowReceiver>(*ends.destination);
    return ends;
  }
  static void check_moves(Ends& ends) {
    constexpr std::size_t kBytes = 1000;
    const std::uint64_t number = ends.sender->next();
    cableway::test::SentMessage message(number, kBytes);
    cableway::test::ReceivedMessage landing(kBytes);
    ASSERT_TRUE(ends.receiver->post(landing.landing()).ok());
    ASSERT_TRUE(ends.sender->post(message.buffer(), kBytes).ok());
    ASSERT_TRUE(test::run_until([&] { return ends.sender->done(number); },
                                [&] {
                                  ASSERT_TRUE(ends.sender->progress().ok());
                                  ASSERT_TRUE(ends.receiver->progress().ok());
                                }));
  }
  static std::string failure_of(const std::function<absl::Status()>& progress) {
    absl::Status status;
    EXPECT_TRUE(test::run_until([&] { return !status.ok(); }, [&] { status = progress(); }));
    return std::string(status.message());
  }
  std::vector<std::string> reasons() const {
    const std::lock_guard lock(mutex_);
    return reasons_;
  }
  void wait_for_ends(std::size_t circuits) const {
    EXPECT_TRUE(test::run_until([&] { return reasons().size() == circuits; }, [] { ::usleep(1000); }));
  }

  mutable std::mutex mutex_;
  std::vector<std::string> reasons_;  // of ended circuits
  std::unique_ptr<PipeStore> pipes_ = PipeStore::create({.bytes = 0, .max_circuits = 10, .leases = 2}).value();
  std::unique_ptr<RelayLoop> loop_;
};

TEST_F(RelayLostPortTest, EndsTheCircuitsOverItAndTellsTheirOtherEnds) {
  Ends over = open("eth1", "eth2");
  Ends beside = open("eth1", "eth3");
  check_moves(over);
  loop_->lose_port({"eth2", kLostCarrier});
  wait_for_ends(1);
  const std::string reason = "node n1 port eth2 (cable to n2 eth0): the port has lost its carrier";
  EXPECT_THAT(reasons(), ElementsAre(reason));
  EXPECT_THAT(failure_of([&] { return over.sender->progress(); }), HasSubstr(reason));
  EXPECT_THAT(failure_of([&] { return over.receiver->progress(); }), HasSubstr(reason));
  check_moves(beside);
  EXPECT_EQ(loop_->status().circuits_broken, 1U);
}

TEST_F(RelayLostPortTest, MayBeTowardsTheSource) {
  Ends first = open("eth1", "eth2");
  Ends second = open("eth4", "eth2");
  loop_->lose_port({"eth1", kLostCarrier});
  wait_for_ends(1);
  EXPECT_THAT(reasons(), ElementsAre("node n1 port eth1 (cable to n0 eth0): the port has lost its carrier"));
  EXPECT_THAT(failure_of([&] { return first.receiver->progress(); }), HasSubstr("node n1 port eth1"));
  check_moves(second);
}

TEST_F(RelayLostPortTest, IsAPortOfThisNodeAlone) {
  Ends ends = open("eth1", "eth2");
  loop_->lose_port({"eth0", kLostCarrier});  // both neighbours have a port of that name
  loop_->lose_port({"eth", kLostCarrier});
  check_moves(ends);
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(RelayLostPortTest, HopsOverTcpOutliveTheRdmaDevice) {
  Ends ends = open("eth1", "eth2");
  loop_->lose_port({"eth2", "RDMA device mlx5_0: port error", true});
  check_moves(ends);
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(RelayLostPortTest, EndsACircuitOnceIfBothItsHopsAreOverIt) {
  const Ends ends = open("eth1", "eth1");
  loop_->lose_port({"eth1", kLostCarrier});
  loop_->lose_port({"eth1", kLostCarrier});
  wait_for_ends(1);
  EXPECT_THAT(failure_of([&] { return ends.receiver->progress(); }), HasSubstr("node n1 port eth1 (cable to n0 eth0)"));
  EXPECT_EQ(reasons().size(), 1U);
}

}  // namespace
}  // namespace cableway::host
