#include "core/linux/hop/cable_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/linux/hop/circuit_acceptor.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

SubKey key_of(int number) {
  SubKey key;
  for (std::byte& byte : key.bytes()) byte = static_cast<std::byte>(number);
  return key;
}

// Two nodes at 127.0.0.1 and 127.0.0.2; the second one accepts probes.
class CableProbeTest : public ::testing::Test {
 protected:
  CableProbeTest() {
    auto acceptor = CircuitAcceptor::listen(
        io_, {"127.0.0.2", "127.0.0.1"}, {}, [](ArrivedSetup) {}, [](const std::string&, const absl::Status&) {});
    EXPECT_TRUE(acceptor.ok()) << acceptor.status();
    acceptor_ = *std::move(acceptor);
    acceptor_->on_probe([this](ArrivedProbe probe) { on_probe(std::move(probe)); });
  }

  virtual void on_probe(ArrivedProbe probe) {
    probes_.push_back(probe.opening.probe);
    there_->serve(std::move(probe));
  }

  CableProbePlan plan(bool both_ways) const {
    return {"eth1 to node n1", "127.0.0.1", "127.0.0.2", acceptor_->port(), 50ms, both_ways};
  }

  CableProbePlan plan_with(const SubKey& key) const {
    CableProbePlan sealed = plan(false);
    sealed.key = key;
    return sealed;
  }

  void serve_until(const std::function<bool()>& done) {
    EXPECT_TRUE(test::run_until(done, [&] { io_.run_one_for(100ms); }));
  }
  // Whether the machine stalled for longer than a test's waits.
  static bool took_too_long(const CableRates& reply) {
    constexpr const char* kSigns[] = {"timed out", "no answer", "ended too early", "the data did not end in time"};
    return std::any_of(std::begin(kSigns), std::end(kSigns),
                       [&](const char* sign) { return reply.error.find(sign) != std::string::npos; });
  }
  // Retries up to three times while it takes too long; the probes are those of the last attempt.
  CableRates test(const CableProbePlan& plan) {
    CableRates reply = test_once(plan);
    for (int again = 0; again < 2 && took_too_long(reply); ++again) {
      serve_until([&] { return there_->running() == 0; });
      probes_.clear();
      reply = test_once(plan);
    }
    return reply;
  }
  CableRates test_once(const CableProbePlan& plan) {
    std::optional<CableRates> reply;
    here_->run({plan}, [&](const std::vector<CableRates>& answer) { reply = answer.at(0); });
    serve_until([&] { return reply.has_value(); });
    return reply.value_or(CableRates{});
  }
  static Settings over_tcp() {
    Settings settings;
    settings.transport = TransportSetting::kTcp;
    return settings;
  }

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  std::unique_ptr<CircuitAcceptor> acceptor_;
  std::unique_ptr<CableProbes> here_ = std::make_unique<CableProbes>(io_, over_tcp());
  std::unique_ptr<CableProbes> there_ = std::make_unique<CableProbes>(io_, over_tcp());
  std::vector<Frame> probes_;
};

TEST_F(CableProbeTest, MeasuresOneWay) {
  const CableRates reply = test(plan(false));
  EXPECT_EQ(reply.error, "");
  EXPECT_GT(reply.to_mbps, 0U);
  EXPECT_EQ(reply.from_mbps, 0U);
  EXPECT_THAT(probes_, ::testing::ElementsAre(Frame{FrameKind::kProbe, 0, 0, 0, 50}));
  EXPECT_EQ(here_->running(), 0U);
}

TEST_F(CableProbeTest, MeasuresBothWaysAtOnce) {
  const CableRates reply = test(plan(true));
  EXPECT_EQ(reply.error, "");
  EXPECT_GT(reply.to_mbps, 0U);
  EXPECT_GT(reply.from_mbps, 0U);
  EXPECT_EQ(reply.over, "tcp");
  EXPECT_EQ(probes_.size(), 2U);
}

TEST_F(CableProbeTest, MeasuresSeveralCablesAtOnce) {
  CableProbePlan back = plan(true);
  back.cable = "eth2 to node n1";
  std::swap(back.from_address, back.to_address);
  CableProbePlan unreachable = plan(false);
  unreachable.cable = "eth3 to node n1";
  unreachable.from_address = "192.0.2.1";
  std::vector<CableRates> rates;
  std::size_t most = 0;
  for (int attempt = 0; attempt < 3 && (rates.empty() || took_too_long(rates[0]) || took_too_long(rates[1]));
       ++attempt) {
    serve_until([&] { return there_->running() == 0; });
    rates.clear();
    here_->run({plan(true), back, unreachable}, [&](const std::vector<CableRates>& answer) { rates = answer; });
    most = std::max(most, here_->running());
    serve_until([&] { return !rates.empty(); });
  }
  EXPECT_EQ(most, 4U) << "both directions of two";
  ASSERT_EQ(rates.size(), 3U);
  for (const std::size_t each : {0, 1}) {
    EXPECT_EQ(rates[each].error, "");
    EXPECT_GT(rates[each].to_mbps, 0U);
    EXPECT_GT(rates[each].from_mbps, 0U);
  }
  EXPECT_THAT(rates[2].error, HasSubstr("cable eth3 to node n1: cannot use 192.0.2.1 as source address"));
}

TEST_F(CableProbeTest, OneTestOfAPortRunsAtATime) {
  std::optional<CableRates> first;
  for (int attempt = 0; attempt < 3 && (!first || took_too_long(*first)); ++attempt) {
    serve_until([&] { return there_->running() == 0; });
    first.reset();
    here_->run({plan(false)}, [&](const std::vector<CableRates>& answer) { first = answer.at(0); });
    EXPECT_THAT(test(plan(false)).error, HasSubstr("cable eth1 to node n1: a test of this port is already running"));
    serve_until([&] { return first.has_value(); });
  }
  EXPECT_EQ(first->error, "");
}

TEST_F(CableProbeTest, IsRefusedWhileANeighboursTestIsRunning) {
  CableProbePlan refused = plan(false);
  refused.to_address = "127.0.0.1";
  std::string error;
  // The slow test ends after a limited time: if it ended before the other one was refused, retry.
  for (int attempt = 0; attempt < 5 && error.empty(); ++attempt) {
    serve_until([&] { return there_->running() == 0; });
    // Its data never ends.
    const UniqueFd slow = test::connect_to(acceptor_->port());
    test::write_frame(slow.get(), Frame{FrameKind::kProbe, 0, 0, 0, kMaxProbeMs});
    serve_until([&] { return there_->running() == 1; });
    error = test(refused).error;
  }
  EXPECT_THAT(error, HasSubstr("the neighbour refused: another test of this port is running"));
}

// The dialing end may begin the next test as soon as it sees the end of this one.
TEST_F(CableProbeTest, EndsAtTheServerBeforeTheDialerSeesIt) {
  constexpr std::uint64_t kDialerReceives = 1;
  for (const std::uint64_t direction : {std::uint64_t{0}, kDialerReceives}) {
    const UniqueFd dialer = test::connect_to(acceptor_->port());
    test::write_frame(dialer.get(), Frame{FrameKind::kProbe, 0, 0, direction, 50});
    ASSERT_TRUE(test::run_until([&] { return there_->running() == 1; }, [&] { io_.run_one_for(100ms); }));
    EXPECT_EQ(test::read_frame(dialer.get()).kind, FrameKind::kSetupOk);
    ASSERT_EQ(::shutdown(dialer.get(), SHUT_WR), 0);
    // The test's thread may only send data, not its end.
    const auto still = std::chrono::steady_clock::now() + 300ms;
    const auto readable = [&] {
      pollfd wanted{dialer.get(), POLLIN, 0};
      return ::poll(&wanted, 1, 10) == 1;
    };
    std::vector<std::byte> data(1U << 20);
    while (std::chrono::steady_clock::now() < still) {
      if (!readable()) continue;
      ASSERT_EQ(direction, kDialerReceives) << "the ack arrived although the main thread was blocked";
      ASSERT_GT(::recv(dialer.get(), data.data(), data.size(), 0), 0)
          << "the data ended although the main thread was blocked";
    }
    EXPECT_EQ(there_->running(), 1U);
    const auto over = [&] {
      if (!readable()) return false;
      return direction != kDialerReceives || ::recv(dialer.get(), data.data(), data.size(), 0) == 0;
    };
    EXPECT_TRUE(test::run_until(over, [&] { io_.run_one_for(10ms); }));
    EXPECT_EQ(there_->running(), 0U);
    if (direction != kDialerReceives) {
      EXPECT_EQ(test::read_frame(dialer.get()), (Frame{FrameKind::kAck, 0, 0, 0, 0}));
    }
  }
}

TEST_F(CableProbeTest, ReportsAnUnreachableNeighbour) {
  CableProbePlan unreachable = plan(true);
  acceptor_.reset();
  const CableRates reply = test(unreachable);
  EXPECT_THAT(reply.error, HasSubstr("cable eth1 to node n1: cannot reach 127.0.0.2 TCP port "));
  unreachable.from_address = "192.0.2.1";
  EXPECT_THAT(test(unreachable).error, HasSubstr("cannot use 192.0.2.1 as source address"));
}

TEST_F(CableProbeTest, EndsWithItsOwner) {
  CableProbePlan longest = plan(true);
  longest.duration = 2000ms;
  bool called = false;
  here_->run({longest}, [&](const std::vector<CableRates>&) { called = true; });
  ASSERT_TRUE(test::run_until([&] { return there_->running() == 2; }, [&] { io_.run_one_for(100ms); }));
  here_.reset();
  there_.reset();
  io_.poll();
  EXPECT_FALSE(called);
}

class RefusedCableTest : public CableProbeTest {
  void on_probe(ArrivedProbe probe) override { std::move(probe).refuse("not\x01 today"); }
};

TEST_F(RefusedCableTest, ReportsTheReason) {
  EXPECT_THAT(test(plan(false)).error, HasSubstr("cable eth1 to node n1: the neighbour refused: not? today"));
  acceptor_->seal_with(SetupKeys(key_of(3)));
  EXPECT_THAT(test(plan_with(key_of(3))).error, HasSubstr("the neighbour refused: not? today"));
}

TEST_F(CableProbeTest, IsSealedWithAKey) {
  acceptor_->seal_with(SetupKeys(key_of(3)));
  const CableRates reply = test(plan_with(key_of(3)));
  EXPECT_EQ(reply.error, "");
  EXPECT_GT(reply.to_mbps, 0U);
  EXPECT_EQ(probes_.size(), 1U);
}

TEST_F(CableProbeTest, IsRefusedWithAnotherKey) {
  acceptor_->seal_with(SetupKeys(key_of(3)));
  EXPECT_THAT(test(plan_with(key_of(4))).error,
              HasSubstr("refused without a proof that it has this cluster's key: the seal of the probe is wrong"));
  EXPECT_THAT(test(plan(false)).error, HasSubstr("it has a key, and this end has none: CABLEWAY_KEY_FILE"));
  acceptor_->seal_with(SetupKeys());
  EXPECT_THAT(test(plan_with(key_of(4))).error, HasSubstr("the sender has a key, and this end has none"));
  EXPECT_TRUE(probes_.empty());
}

}  // namespace
}  // namespace cableway::host
