// What the relay's thread tells the two ends of a circuit that fails, whose sockets the test holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/linux/relay/relay_loop.h"
#include "core/linux/tcp/pipe_store.h"
#include "tests/core/linux/hop/sample_setup.h"
#include "tests/core/linux/loopback_sockets.h"
#include "tests/core/linux/relay/circuit_over_tcp.h"

namespace cableway::host {
namespace {

class RelayLoopFailure : public testing::Test {
 protected:
  RelayLoopFailure() {
    auto loop = RelayLoop::start({pipes_.get()}, {.spin = std::chrono::microseconds(20)},
                                 {[this](RelayLoop::Closed closed) {
                                    const std::lock_guard lock(mutex_);
                                    closed_.push_back(std::move(closed));
                                  },
                                  [](RelayStore&) {}});
    EXPECT_TRUE(loop.ok()) << loop.status();
    loop_ = *std::move(loop);
    CircuitSetup setup = test::sample_setup(1, true);
    setup.hops[1].cable = "n1.eth2-n2.eth0";
    auto [source, upstream] = test::connected_pair();
    auto [downstream, destination] = test::connected_pair();
    source_ = std::move(source);
    destination_ = std::move(destination);
    test::add_over_tcp(*loop_, setup, std::move(upstream), std::move(downstream));
  }

  static void expect_failed(const UniqueFd& end, const std::string& reason, FailureScope scope) {
    EXPECT_EQ(test::read_frame(end.get()), failed_frame(static_cast<std::uint32_t>(reason.size()), scope));
    EXPECT_EQ(test::read_text(end.get(), reason.size()), reason);
  }
  // Once the circuit has ended: whether by a fault.
  bool broken() {
    EXPECT_TRUE(test::run_until([&] { return loop_->circuits() == 0 && loop_->status().circuits.empty(); }, [] {}));
    return loop_->status().circuits_broken > 0;
  }

  std::mutex mutex_;
  std::vector<RelayLoop::Closed> closed_;  // with the sockets
  std::unique_ptr<PipeStore> pipes_ = PipeStore::create({.bytes = 0, .max_circuits = 1, .leases = 1}).value();
  std::unique_ptr<RelayLoop> loop_;
  UniqueFd source_;
  UniqueFd destination_;
};

class RelayLoopFailureOfAnEnd : public RelayLoopFailure, public testing::WithParamInterface<FailureScope> {};

INSTANTIATE_TEST_SUITE_P(Scope, RelayLoopFailureOfAnEnd, testing::Values(FailureScope::kCircuit, FailureScope::kFlow),
                         [](const auto& scope) { return scope.param == FailureScope::kFlow ? "Flow" : "Circuit"; });

TEST_P(RelayLoopFailureOfAnEnd, ReachesTheDestinationWithItsScope) {
  test::write_failure(source_.get(), "node n0: out of memory", GetParam());
  expect_failed(destination_, "node n0: out of memory", GetParam());
  EXPECT_FALSE(broken()) << "an end has ended it";
}

TEST_P(RelayLoopFailureOfAnEnd, ReachesTheSourceWithItsScope) {
  test::write_failure(destination_.get(), "node n2: out of memory", GetParam());
  expect_failed(source_, "node n2: out of memory", GetParam());
  EXPECT_FALSE(broken()) << "an end has ended it";
}

TEST_F(RelayLoopFailure, FoundHereEndsTheCircuitAlone) {
  loop_->lose_port({"eth2", "the port has lost its carrier"});
  const std::string reason = "node n1 port eth2 (cable to n2 eth0): the port has lost its carrier";
  expect_failed(source_, reason, FailureScope::kCircuit);
  expect_failed(destination_, reason, FailureScope::kCircuit);
  EXPECT_TRUE(broken());
}

TEST_F(RelayLoopFailure, AnEndThatClosesEndsTheCircuitAlone) {
  destination_.reset();
  expect_failed(source_, "node n1 port eth2 (cable to n2 eth0): the peer closed the connection",
                FailureScope::kCircuit);
}

}  // namespace
}  // namespace cableway::host
