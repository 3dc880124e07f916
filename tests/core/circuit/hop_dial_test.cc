#include "core/circuit/hop_dial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "sim/virtual_clock.h"
#include "tests/core/circuit/played_connector.h"

namespace cableway {
namespace {

constexpr char kCannotReach[] = "node n0 cannot reach node n1 at 10.0.0.2 TCP port 7000 over cable c0: ";

// A transport whose offer fails.
class NoOffer final : public Transport {
 public:
  explicit NoOffer(const absl::Status& why) : why_(why) {}

  TransportKind kind() const override { return TransportKind::kRdma; }
  absl::StatusOr<TransportChoice> offer(const CircuitSetup&) override {
    if (!why_.ok()) return why_;
    return TransportChoice{nullptr, "none here"};
  }
  absl::Status settle(const CircuitSetup&, const SetupConnection&, TransportEnd&, std::span<const std::byte>) override {
    return absl::InternalError("nothing was offered");
  }
  absl::StatusOr<TransportChoice> join(const CircuitSetup&, const SetupConnection&,
                                       std::span<const std::byte>) override {
    return absl::InternalError("it dials");
  }
  absl::StatusOr<std::string> missing_there() const override { return "none there"; }

 private:
  const absl::Status& why_;
};

class HopDialTest : public testing::Test {
 protected:
  // From n0 to a process of n1, or to a relay there.
  void dial(bool to_relay = false) {
    CircuitSetup setup;
    setup.budget_ms = 1000;
    setup.chunk_bytes = 1U << 16;
    setup.from_node = "n0";
    setup.hops = {{"c0", "10.0.0.1", "n1", "10.0.0.2", 7000, false}};
    if (to_relay) setup.hops.push_back({"c1", "10.0.1.1", "n2", "10.0.1.2", 7001, false});
    dial_ = std::make_unique<HopDial>(HopDial::Means{clock_, connector_, transports_, [] { return Challenge{}; }},
                                      setup, std::nullopt,
                                      [this](absl::StatusOr<OpenHop> result) { result_ = std::move(result); });
    dial_->start();
    clock_.run_for(Duration{1});  // it begins in a turn of its own
  }
  void refuse(const std::string& reason, FailureScope scope) {
    const auto peer = connector_.reach();
    std::optional<CircuitSeal> none;
    peer->deliver(refusal(reason, scope, none));
    peer->run();
  }
  static absl::Status refused_connection() {
    return absl::UnavailableError(std::string(kCannotReach) + "connection refused (is cablewayd running there?)");
  }
  absl::Status status() const { return result_ ? result_->status() : absl::UnknownError("not over"); }

  sim::VirtualClock clock_;
  test::PlayedConnector connector_;
  absl::Status no_offer_;
  const TransportNegotiator transports_{[this] {
                                          std::vector<std::unique_ptr<Transport>> list;
                                          list.push_back(std::make_unique<NoOffer>(no_offer_));
                                          return list;
                                        }(),
                                        [] { return std::make_unique<test::PlayedConnectionEnd>(); }};
  std::unique_ptr<HopDial> dial_;
  std::optional<absl::StatusOr<OpenHop>> result_;
};

TEST_F(HopDialTest, OpensTheHop) {
  dial();
  const auto peer = connector_.reach();
  peer->deliver(encode_setup_answer({4096, std::nullopt}));
  peer->run();
  ASSERT_TRUE(status().ok()) << status();
  EXPECT_EQ((*result_)->chunk_bytes, 4096U);
}

TEST_F(HopDialTest, ARefusalIsPassedOnUnchanged) {
  dial();
  refuse("node n7: no room", FailureScope::kCircuit);
  EXPECT_EQ(status(), absl::UnavailableError("node n7: no room"));
}

TEST_F(HopDialTest, ANodeWithoutRoomIsPassedOnUnchanged) {
  dial();
  refuse("node n7: no room now", FailureScope::kBusy);
  EXPECT_TRUE(refused_for_room(status()));
  EXPECT_EQ(status().message(), "node n7: no room now");
}

TEST_F(HopDialTest, ARefusedFlowIsNotFound) {
  dial(true);
  refuse("node n2: no listener", FailureScope::kFlow);
  EXPECT_EQ(status(), absl::NotFoundError("node n2: no listener"));
}

TEST_F(HopDialTest, AProcessThatHasEndedIsNotFound) {
  dial();
  connector_.dialled.back()->connected(absl::NotFoundError("Connection refused"));
  EXPECT_EQ(status(), absl::NotFoundError(std::string(kCannotReach) + "Connection refused"));
}

TEST_F(HopDialTest, AMissingRelayIsUnreachable) {
  dial(true);
  while (!result_) {
    if (!connector_.dialled.back()->dropped) {
      connector_.dialled.back()->connected(absl::NotFoundError("Connection refused"));
    }
    clock_.run_for(HopDial::kRetryAfter);
  }
  EXPECT_EQ(status(), refused_connection());
  EXPECT_EQ(cause_of(status()), RefusalCause::kOther) << "it was not silent";
}

// The time ends while a further attempt waits, as a host that drops packets for a moment does not answer it.
TEST_F(HopDialTest, ARelayThatHasRefusedIsNotSilent) {
  dial(true);
  connector_.dialled.back()->connected(absl::NotFoundError("Connection refused"));
  clock_.run_for(std::chrono::seconds(2));
  EXPECT_EQ(connector_.dialled.size(), 2U);
  EXPECT_EQ(status(), refused_connection());
}

TEST_F(HopDialTest, ARelayThatListensAgainAndSaysNothingIsSilent) {
  dial(true);
  connector_.dialled.back()->connected(absl::NotFoundError("Connection refused"));
  clock_.run_for(HopDial::kRetryAfter);
  const auto peer = connector_.reach();
  clock_.run_for(std::chrono::seconds(2));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status()));
  EXPECT_EQ(status().message(), std::string(kCannotReach) + "no answer to the set-up");
  EXPECT_EQ(cause_of(status()), RefusalCause::kSilence);
}

TEST_F(HopDialTest, ABrokenConnectionIsUnreachable) {
  dial();
  connector_.dialled.back()->connected(absl::UnavailableError("No route to host"));
  EXPECT_EQ(status(), absl::UnavailableError(std::string(kCannotReach) + "No route to host"));
}

TEST_F(HopDialTest, ADeviceThatThisEndLacksEndsNoFlow) {
  no_offer_ = absl::NotFoundError("libibverbs has no RDMA device mlx5_0");
  dial();
  EXPECT_EQ(status(),
            absl::FailedPreconditionError(std::string(kCannotReach) + "libibverbs has no RDMA device mlx5_0"));
}

}  // namespace
}  // namespace cableway
