#include "core/linux/hop/circuit_dialer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "tests/core/linux/hop/sample_setup.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Result = absl::StatusOr<HopConnection>;

// Dials while `peer` runs the other end in its own thread.
template <typename Peer>
Result dial(const CircuitSetup& setup, Peer peer) {
  boost::asio::io_context io;
  std::optional<Result> result;
  const TransportNegotiator transports = test::tcp_alone();
  CircuitDialer dialer(io, transports);
  dialer.dial(setup, std::nullopt, [&](Result done) {
    EXPECT_FALSE(result.has_value()) << "called twice";
    result = std::move(done);
  });
  std::thread other(peer);
  io.run();
  other.join();
  EXPECT_TRUE(result.has_value());
  return std::move(result).value_or(absl::InternalError("never called"));
}

// Expects a failure within its budget, and returns its text.
std::string failure_within(std::uint32_t budget_ms, const CircuitSetup& setup) {
  const auto begin = std::chrono::steady_clock::now();
  const Result result = dial(setup, [] {});
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_FALSE(result.ok());
  // Slack for a busy machine; the kernel alone would retry for two minutes.
  EXPECT_LT(took, std::chrono::milliseconds(budget_ms + 30000));
  return std::string(result.status().message());
}

std::string reach_text(std::uint16_t port) {
  return "node n0 cannot reach node n1 at 127.0.0.1 TCP port " + std::to_string(port) + " over cable c0: ";
}

TEST(CircuitDialer, SendsTheSetupAndReturnsTheConnection) {
  const test::Listener listener = test::listen_on_loopback();
  const CircuitSetup setup = test::sample_setup(listener.port);
  UniqueFd peer;
  const Result result = dial(setup, [&] {
    peer = test::accept_from(listener);
    const Frame header = test::read_frame(peer.get());
    EXPECT_EQ(header.kind, FrameKind::kSetup);
    absl::StatusOr<CircuitSetup> sent = decode_circuit_setup(test::read_bytes(peer.get(), header.payload));
    ASSERT_TRUE(sent.ok()) << sent.status();
    // The budget passed on excludes the time for connecting.
    EXPECT_LE(sent->budget_ms, setup.budget_ms);
    EXPECT_GT(sent->budget_ms, 0U);
    sent->budget_ms = setup.budget_ms;
    EXPECT_EQ(encode_circuit_setup(*sent), encode_circuit_setup(setup));
    test::write_frame(peer.get(), Frame{FrameKind::kSetupOk, 0, 0, 0, 0});
    test::write_all(peer.get(), std::string("next"));
  });
  ASSERT_TRUE(result.ok()) << result.status();
  // Bytes after the answer belong to the circuit and are still unread.
  std::string text(4, ' ');
  EXPECT_TRUE(test::run_until([&] { return ::recv(result->socket.get(), text.data(), 4, MSG_PEEK) == 4; }, [] {}));
  EXPECT_EQ(text, "next");
}

TEST(CircuitDialer, PassesTheOtherEndsReasonOn) {
  const test::Listener listener = test::listen_on_loopback();
  const std::string reason = "node n1 cannot reach node n2 over cable c1: no";
  const Result result = dial(test::sample_setup(listener.port), [&] {
    const UniqueFd peer = test::accept_from(listener);
    test::write_failure(peer.get(), reason);
    test::read_bytes(peer.get(), kFrameHeaderBytes);
  });
  EXPECT_TRUE(absl::IsUnavailable(result.status()));
  EXPECT_EQ(result.status().message(), reason);
}

TEST(CircuitDialer, NamesThePeerOfAnInvalidAnswer) {
  const test::Listener listener = test::listen_on_loopback();
  const Result garbage = dial(test::sample_setup(listener.port), [&] {
    const UniqueFd peer = test::accept_from(listener);
    test::write_all(peer.get(), std::string(64, '?'));
    test::read_bytes(peer.get(), kFrameHeaderBytes);
  });
  EXPECT_THAT(std::string(garbage.status().message()),
              AllOf(HasSubstr(reach_text(listener.port)), HasSubstr("not a Cableway frame")));
  const Result chunk = dial(test::sample_setup(listener.port), [&] {
    const UniqueFd peer = test::accept_from(listener);
    test::write_frame(peer.get(), Frame{FrameKind::kAck, 0, 0, 0, 0});
    test::read_bytes(peer.get(), kFrameHeaderBytes);
  });
  EXPECT_THAT(std::string(chunk.status().message()), HasSubstr("answered by a frame ack"));
}

TEST(CircuitDialer, ReportsThatThePeerClosed) {
  const test::Listener listener = test::listen_on_loopback();
  const Result result = dial(test::sample_setup(listener.port), [&] {
    const UniqueFd peer = test::accept_from(listener);
    test::read_bytes(peer.get(), encode_setup_frame(test::sample_setup(listener.port)).size());
  });
  EXPECT_THAT(std::string(result.status().message()),
              AllOf(HasSubstr(reach_text(listener.port)), HasSubstr("no answer to the set-up")));
}

// A process that refuses has ended: the dialer does not retry.
TEST(CircuitDialer, FailsAtOnceWhenAProcessRefuses) {
  const std::uint16_t port = test::listen_on_loopback().port;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(failure_within(60000, test::sample_setup(port, false, 60000)),
              AllOf(HasSubstr(reach_text(port)), HasSubstr("refused")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
}

TEST(CircuitDialer, EndsTheFlowOnlyIfAProcessRefuses) {
  const std::uint16_t port = test::listen_on_loopback().port;
  EXPECT_TRUE(absl::IsNotFound(dial(test::sample_setup(port, false, 60000), [] {}).status()));
  EXPECT_TRUE(absl::IsUnavailable(dial(test::sample_setup(port, true, 300), [] {}).status()));
  CircuitSetup unusable = test::sample_setup(port);
  unusable.hops[0].from_address = "192.0.2.77";
  EXPECT_TRUE(absl::IsUnavailable(dial(unusable, [] {}).status()));
}

// A relay that refuses may be starting.
TEST(CircuitDialer, RetriesARelayUntilItsBudgetIsSpent) {
  const std::uint16_t port = test::listen_on_loopback().port;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(failure_within(1000, test::sample_setup(port, true, 1000)),
              AllOf(HasSubstr(reach_text(port)), HasSubstr("is cablewayd running there?")));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(990));
}

TEST(CircuitDialer, ReachesARelayThatComesUpMeanwhile) {
  test::Listener listener = test::listen_on_loopback();
  const std::uint16_t port = listener.port;
  listener.socket.reset();
  const Result result = dial(test::sample_setup(port, true, 60000), [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    test::Listener late = test::listen_on_loopback_port(port);
    const UniqueFd peer = test::accept_from(late);
    test::write_frame(peer.get(), Frame{FrameKind::kSetupOk, 0, 0, 0, 0});
    test::read_bytes(peer.get(), kFrameHeaderBytes);
  });
  EXPECT_TRUE(result.ok()) << result.status();
}

TEST(CircuitDialer, LimitsTheWaitForASilentPeer) {
  const test::Listener listener = test::listen_on_loopback();  // the kernel accepts, no process answers
  EXPECT_THAT(failure_within(1000, test::sample_setup(listener.port, false, 1000)),
              AllOf(HasSubstr(reach_text(listener.port)), HasSubstr("no answer to the set-up")));
}

TEST(CircuitDialer, LimitsTheWaitForAnUnresponsiveAddress) {
  // A full backlog drops connection requests, like a cable without a host.
  const test::Listener full = test::listen_on_loopback(0);
  const UniqueFd first = test::connect_to(full.port);
  EXPECT_THAT(
      failure_within(300, test::sample_setup(full.port, false, 300)),
      AllOf(HasSubstr(reach_text(full.port)), HasSubstr("no answer to the connection"), HasSubstr("is the cable up")));
}

TEST(CircuitDialer, NamesTheUnusableAddress) {
  CircuitSetup setup = test::sample_setup(1);
  setup.hops[0].from_address = "192.0.2.77";
  EXPECT_THAT(failure_within(5000, setup), AllOf(HasSubstr("n0"), HasSubstr("192.0.2.77 as source address")));
  setup.hops[0].from_address = "nowhere";
  EXPECT_THAT(failure_within(5000, setup), HasSubstr("\"nowhere\" is not an IP address"));
  setup = test::sample_setup(1);
  setup.hops[0].to_address = "somewhere";
  EXPECT_THAT(failure_within(5000, setup), HasSubstr("\"somewhere\" is not an IP address"));
}

// At a relay the second hop fails: the message begins with the relay's own name.
TEST(CircuitDialer, NamesTheNodeThatDials) {
  const std::uint16_t port = test::listen_on_loopback().port;
  CircuitSetup setup = test::sample_setup(port, true, 1000);
  setup.hop = 1;
  EXPECT_THAT(failure_within(1000, setup), HasSubstr("node n1 cannot reach node n2"));
}

}  // namespace
}  // namespace cableway::host
