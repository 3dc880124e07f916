#include "core/flow_circuits/flow_pauses.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;

constexpr CircuitName kOld{0, 1};
constexpr CircuitName kNew{1, 1};

// A source's end as FlowPauses sees it.
class ScriptedFlow final : public CircuitOwner {
 public:
  absl::Status join(const CircuitName&, ChunkLink&, std::string, std::uint32_t) override { return absl::OkStatus(); }
  void stripe(const CircuitName&, std::uint32_t, CircuitShare) override {}
  void end_circuit(const CircuitName& circuit, const absl::Status& reason) override {
    live_circuit_ = live_circuit_ == circuit ? CircuitName{} : live_circuit_;
    last_end_ = reason;
    note_end(circuit, CircuitEndKind::kFailed, reason, true);
  }
  bool is_live(const CircuitName& circuit) const override { return keeps_all || circuit == live_circuit_; }
  std::size_t live() const override { return live_circuit_.generation == 0 ? 0 : 1; }
  bool shares(const CircuitName&) const override { return is_striped; }
  std::uint64_t shares_ended() const override { return ended_shares; }
  std::uint64_t circuits_ended() const override { return 0; }
  const absl::Status& last_end() const override { return last_end_; }
  std::uint64_t arrived() const override { return 0; }
  bool in_flight() const override { return has_in_flight; }
  absl::Status progress() override { return absl::OkStatus(); }
  bool done(std::uint64_t) const override { return false; }
  std::uint64_t size(std::uint64_t) const override { return 0; }
  bool idle() const override { return is_idle; }

  void give(const CircuitName& circuit, std::uint64_t bytes, std::uint64_t again = 0) {
    live_circuit_ = circuit;
    traffic_.carried(circuit, bytes);
    traffic_.repeated(again);
  }

  bool has_in_flight = true;
  bool is_idle = false;
  bool keeps_all = false;  // a circuit lives on beside the next one
  bool is_striped = false;
  std::uint64_t ended_shares = 0;

 private:
  CircuitName live_circuit_;
  absl::Status last_end_;
};

class FlowPausesTest : public ::testing::Test {
 protected:
  void give_at(int ms, const CircuitName& circuit, std::uint64_t again = 0) {
    flow_.give(circuit, 1000, again);
    ASSERT_TRUE(pauses_.due(flow_.traffic()));
    pauses_.moved(flow_, at(ms));
    ASSERT_FALSE(pauses_.due(flow_.traffic()));
  }
  void lose_at(int ms, const CircuitName& circuit) {
    flow_.end_circuit(circuit, absl::UnavailableError("port eth0 has lost its carrier"));
    pauses_.circuits_ended(flow_, at(ms));
  }
  std::optional<Reroute> take_at(int ms) { return pauses_.take(flow_.traffic(), at(ms)); }
  static Instant at(int ms) { return Instant{} + std::chrono::seconds(1) + milliseconds(ms); }

  ScriptedFlow flow_;
  FlowPauses pauses_;
};

TEST_F(FlowPausesTest, TheCauseIsTheCarriersNotThatOfACircuitThatEndedWithIt) {
  give_at(0, kOld);
  flow_.end_circuit(kOld, absl::UnavailableError("port eth0 has lost its carrier"));
  flow_.end_circuit({2, 1}, absl::UnavailableError("node m is gone"));
  pauses_.circuits_ended(flow_, at(10));
  give_at(20, kNew);
  const std::optional<Reroute> reroute = take_at(500);
  ASSERT_TRUE(reroute.has_value());
  EXPECT_EQ(reroute->cause, "port eth0 has lost its carrier");
}

TEST_F(FlowPausesTest, LastsFromTheLastChunkOverTheOldCircuitToTheFirstOverTheNewOne) {
  give_at(0, kOld);
  give_at(10, kOld);
  lose_at(15, kOld);
  give_at(24, kNew, 700);
  flow_.give(kNew, 300, 300);  // the rest of what is sent again
  EXPECT_FALSE(take_at(100).has_value()) << "not all may have been sent again";
  const std::optional<Reroute> reroute = take_at(124);
  ASSERT_TRUE(reroute.has_value());
  EXPECT_EQ(reroute->circuit, kNew);
  EXPECT_EQ(reroute->pause, milliseconds(14));
  EXPECT_EQ(reroute->cause, "port eth0 has lost its carrier");
  EXPECT_EQ(reroute->times, 1U);
  EXPECT_EQ(reroute->bytes_again, 1000U);
  EXPECT_FALSE(take_at(300).has_value()) << "it is taken once";
}

TEST_F(FlowPausesTest, CountsFromTheLossWhereAllHadLanded) {
  give_at(0, kOld);
  flow_.has_in_flight = false;  // its receiver has not posted the next receive
  lose_at(5000, kOld);
  give_at(5007, kNew);
  EXPECT_EQ(take_at(6000)->pause, milliseconds(7));
}

TEST_F(FlowPausesTest, AnIdleFlowPausesOnceItsApplicationPosts) {
  give_at(0, kOld);
  flow_.is_idle = true;
  lose_at(100, kOld);
  flow_.is_idle = false;
  pauses_.posted(at(400));
  pauses_.posted(at(405));
  give_at(410, kNew);
  EXPECT_EQ(take_at(600)->pause, milliseconds(10));
}

TEST_F(FlowPausesTest, AnIdleFlowThatHasAnotherCircuitInTimeDoesNotPause) {
  give_at(0, kOld);
  flow_.is_idle = true;
  lose_at(100, kOld);
  give_at(900, kNew);
  const std::optional<Reroute> reroute = take_at(1000);
  ASSERT_TRUE(reroute.has_value());
  EXPECT_EQ(reroute->pause, Duration{0});
}

TEST_F(FlowPausesTest, ACircuitThatEndsInTheCallInWhichTheNextOneTakesOver) {
  give_at(0, kOld);
  flow_.end_circuit(kOld, absl::UnavailableError("reset"));
  give_at(3, kNew);
  const std::optional<Reroute> reroute = take_at(200);
  ASSERT_TRUE(reroute.has_value());
  EXPECT_EQ(reroute->cause, "reset");
  EXPECT_EQ(reroute->pause, milliseconds(3));
}

TEST_F(FlowPausesTest, ChunksThatAreSharedAmongCircuitsAreNoReroute) {
  flow_.keeps_all = flow_.is_striped = true;
  for (int i = 0; i < 10; ++i) give_at(i, i % 2 == 0 ? kOld : kNew);
  EXPECT_FALSE(take_at(1000).has_value());
}

TEST_F(FlowPausesTest, TheEndOfACircuitThatSharedThemIsOneWhicheverCameLast) {
  flow_.keeps_all = flow_.is_striped = true;
  give_at(0, kOld);
  give_at(5, kNew);
  give_at(10, kOld);
  flow_.is_striped = false;
  ++flow_.ended_shares;
  lose_at(12, kNew);
  give_at(18, kOld, 700);
  const std::optional<Reroute> reroute = take_at(500);
  ASSERT_TRUE(reroute.has_value());
  EXPECT_EQ(reroute->circuit, kOld);
  EXPECT_EQ(reroute->cause, "port eth0 has lost its carrier");
  EXPECT_EQ(reroute->pause, milliseconds(8));
  EXPECT_EQ(reroute->times, 1U);
  EXPECT_EQ(reroute->bytes_again, 700U);
}

TEST_F(FlowPausesTest, ABetterCircuitIsNoPause) {
  give_at(0, kOld);
  flow_.keeps_all = true;
  give_at(40, kNew);
  const std::optional<Reroute> reroute = take_at(500);
  ASSERT_TRUE(reroute.has_value());
  EXPECT_EQ(reroute->pause, Duration{0});
  EXPECT_EQ(reroute->cause, "");
}

TEST_F(FlowPausesTest, SeveralReroutesBeforeOneIsTakenAddUp) {
  give_at(0, kOld);
  lose_at(5, kOld);
  give_at(10, kNew);
  lose_at(12, kNew);
  give_at(30, {0, 2});
  const std::optional<Reroute> reroute = take_at(130);
  ASSERT_TRUE(reroute.has_value());
  EXPECT_EQ(reroute->times, 2U);
  EXPECT_EQ(reroute->pause, milliseconds(30));
  EXPECT_EQ(reroute->circuit, (CircuitName{0, 2}));
}

TEST_F(FlowPausesTest, ACircuitThatDidNotCarryTheFlowEndsWithoutAPause) {
  give_at(0, kOld);
  pauses_.circuits_ended(flow_, at(1));
  give_at(2, kOld);
  EXPECT_FALSE(take_at(500).has_value());
}

}  // namespace
}  // namespace cableway
