// A flow with two paths that are equally good, over m and over n, moves to the one that carries less.
#include "core/flow_circuits/path_balance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/core/flow_circuits/played_flow.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::kOverM;
using test::kOverN;
using testing::IsEmpty;

constexpr std::uint64_t kMegabyte = 1'000'000;
constexpr milliseconds kLook{250};

// The time until the flow moves; nullopt: it does not move within `within`.
std::optional<Duration> moves_after(PathBalance& balance, const CircuitLoad& present, std::uint64_t other, Instant& now,
                                    Duration within) {
  const Instant began = now;
  for (; now - began < within; now = now + kLook) {
    if (balance.should_move(present, other, now)) return now - began;
  }
  return std::nullopt;
}

TEST(PathBalance, MovesWhereThePathCarriesTheFlowAndMuchMore) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    PathBalance balance(seed);
    Instant now{std::chrono::hours(1)};
    // Traffic between neighbours and this flow load its path; other flows load the other path.
    const auto took = moves_after(balance, {300 * kMegabyte, 100 * kMegabyte}, 100 * kMegabyte, now, minutes(1));
    ASSERT_TRUE(took.has_value()) << seed;
    EXPECT_GE(*took, PathBalance::kSteady);
  }
}

TEST(PathBalance, StaysWhereNothingIsToBeGained) {
  struct Case {
    const char* why;
    CircuitLoad present;
    std::uint64_t other;
  };
  const std::array<Case, 6> cases = {{
      {"the other path would carry as much", {200 * kMegabyte, 100 * kMegabyte}, 100 * kMegabyte},
      {"the other path would carry nearly as much", {200 * kMegabyte, 100 * kMegabyte}, 90 * kMegabyte},
      {"it is alone", {100 * kMegabyte, 100 * kMegabyte}, 0},
      {"the other path carries more", {100 * kMegabyte, 50 * kMegabyte}, 200 * kMegabyte},
      {"it carries little", {300 * kMegabyte, 10 * kMegabyte}, 0},
      {"nothing moves", {0, 0}, 0},
  }};
  for (const Case& each : cases) {
    PathBalance balance(1);
    Instant now{std::chrono::hours(1)};
    EXPECT_EQ(moves_after(balance, each.present, each.other, now, minutes(10)), std::nullopt) << each.why;
  }
}

TEST(PathBalance, APeakIsNoReason) {
  PathBalance balance(1);
  Instant now{std::chrono::hours(1)};
  for (int i = 0; i < 1000; ++i, now = now + kLook) {
    const bool peak = i % 4 != 0;
    EXPECT_FALSE(balance.should_move({300 * kMegabyte, 100 * kMegabyte}, (peak ? 0 : 300) * kMegabyte, now));
  }
}

TEST(PathBalance, RestsAfterAMoveTwiceAsLongEachTime) {
  PathBalance balance(1);
  Instant now{std::chrono::hours(1)};
  Duration rest = PathBalance::kFirstRest;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(moves_after(balance, {300 * kMegabyte, 100 * kMegabyte}, 0, now, minutes(5)).has_value());
    balance.moved(now);
    EXPECT_EQ(moves_after(balance, {300 * kMegabyte, 100 * kMegabyte}, 0, now, rest - kLook), std::nullopt) << i;
    rest = std::min<Duration>(2 * rest, PathBalance::kLongestRest);
  }
}

// 16 flows begin on one of two paths, and see each other's moves a second and a half late.
TEST(PathBalance, FlowsThatAllSeeTheSameDoNotAllMove) {
  constexpr std::size_t kFlows = 16;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<PathBalance> balances;
    for (std::size_t i = 0; i < kFlows; ++i) balances.emplace_back(seed * 100 + i);
    std::array<bool, kFlows> over_n{};
    std::array<Instant, kFlows> moved_at{};
    std::size_t moves = 0;
    Instant now{std::chrono::hours(1)};
    Instant last_move = now;
    const auto seen = [&](std::size_t flow) { return over_n[flow] != (now - moved_at[flow] < milliseconds(1500)); };
    for (const Instant begin = now; now - begin < minutes(10); now = now + kLook) {
      std::array<std::uint64_t, 2> load{};
      for (std::size_t i = 0; i < kFlows; ++i) load[seen(i) ? 1 : 0] += 10 * kMegabyte;
      for (std::size_t i = 0; i < kFlows; ++i) {
        const CircuitLoad present{load[over_n[i] ? 1 : 0], 10 * kMegabyte};
        if (!balances[i].should_move(present, load[over_n[i] ? 0 : 1], now)) continue;
        balances[i].moved(now);
        over_n[i] = !over_n[i];
        moved_at[i] = last_move = now;
        ++moves;
      }
    }
    const auto on_n = static_cast<std::size_t>(std::count(over_n.begin(), over_n.end(), true));
    EXPECT_GE(on_n, 6U) << seed;
    EXPECT_LE(on_n, 10U) << seed;
    EXPECT_LE(moves, 4 * kFlows) << seed;
    EXPECT_GT(now - last_move, minutes(5)) << seed << ": it comes to rest";
  }
}

// all_gather by PAT in a ring of four: each node sends two parts to the next one, all the same way round, and one part
// to the opposite one, by a flow for each of NCCL's channels, half of which begin on the other way.
//
//       0 --> 1      the neighbours' way: 2 parts of them on each cable, and 1 of opposite flows at first
//       ^     |      the other way: 1 at first, 2 if all opposite flows go there
//       |     v
//       3 <-- 2
class RingOfFour {
 public:
  RingOfFour(std::uint64_t seed, std::size_t channels) : channels_(channels), moved_at_(4 * channels) {
    for (std::uint64_t i = 0; i < flows(); ++i) {
      balances_.emplace_back(seed * flows() + i);
      with_neighbours_.push_back(i % 2 == 0);
    }
  }

  // The load of the fullest cable, in a channel's share of a part, after the flows had that time to move.
  std::uint64_t fullest_after(Duration time) {
    for (const Instant begin = now_; now_ - begin < time; now_ = now_ + kLook) {
      for (std::size_t i = 0; i < flows(); ++i) look(i);
    }
    std::uint64_t fullest = 0;
    for (std::size_t node = 0; node < 4; ++node) fullest = std::max({fullest, load(node, true), load(node, false)});
    return fullest;
  }

 private:
  std::size_t flows() const { return 4 * channels_; }

  void look(std::size_t flow) {
    const bool with = with_neighbours_[flow];
    const CircuitLoad present{busiest(flow, with) * kMegabyte * 10, 10 * kMegabyte};
    if (!balances_[flow].should_move(present, busiest(flow, !with) * kMegabyte * 10, now_)) return;
    balances_[flow].moved(now_);
    with_neighbours_[flow] = !with;
    moved_at_[flow] = now_;
  }
  // Moves are seen a second and a half late.
  bool seen_with_neighbours(std::size_t flow) const {
    return with_neighbours_[flow] != (now_ - moved_at_[flow] < milliseconds(1500));
  }
  // The fuller of the two cables from the flow's node to the opposite one.
  std::uint64_t busiest(std::size_t flow, bool with) const {
    const std::size_t from = flow / channels_;
    return std::max(load(from, with), load((from + (with ? 1 : 3)) % 4, with));
  }
  // The load of the cable that leaves that node one way round or the other.
  std::uint64_t load(std::size_t node, bool with) const {
    std::uint64_t sum = with ? 2 * channels_ : 0;
    for (std::size_t flow = 0; flow < flows(); ++flow) {
      const std::size_t from = flow / channels_;
      const bool passes = node == from || node == (from + (with ? 1 : 3)) % 4;
      if (seen_with_neighbours(flow) == with && passes) ++sum;
    }
    return sum;
  }

  const std::size_t channels_;
  std::vector<PathBalance> balances_;
  std::vector<bool> with_neighbours_;
  std::vector<Instant> moved_at_;
  Instant now_{std::chrono::hours(1)};
};

TEST(PathBalance, FlowsLeaveTheWayOfTheirNeighbours) {
  for (const std::size_t channels : {2U, 4U}) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      RingOfFour ring(seed, channels);
      ASSERT_EQ(ring.fullest_after(seconds(0)), 3 * channels);
      EXPECT_EQ(ring.fullest_after(seconds(30)), 2 * channels) << channels << " channels, seed " << seed;
    }
  }
}

PathOffer as(PathOffer offer, PathKind kind, bool equals_first) {
  offer.kind = kind;
  offer.equals_first = equals_first;
  return offer;
}

class BalancedCircuitsTest : public test::SourceCircuitsFixture {
 protected:
  BalancedCircuitsTest() {
    paths_.offers_to = [this](std::uint64_t ordinal) {
      const bool over_m = ordinal % 2 == 0;
      return PathOffers{as(over_m ? kOverM : kOverN, PathKind::kFirst, false),
                        as(over_m ? kOverN : kOverM, PathKind::kAlternate, equal_)};
    };
    paths_.turn();
  }
  void begin_striped() {
    circuits_.emplace(
        paths_.means, identity_,
        SourceCircuits::Limits{
            .open = seconds(10), .path_wait = seconds(30), .chunk_bytes = 1U << 20, .shares = CircuitShare::kAlternate},
        flow_);
    circuits_->start();
    paths_.turn();
    accept();
    circuits_->stripe();
    paths_.turn();
    accept();
    ASSERT_EQ(flow_.joined.size(), 2U);
    ASSERT_EQ(flow_.joined[0].hops[0].to_node, "m");
    ASSERT_EQ(flow_.joined[1].hops[0].to_node, "n");
  }
  void accept() {
    paths_.reach();
    ++flow_.next_slot;
    paths_.accept();
    paths_.turn();
  }
  // The flow is told these loads of its circuits over m and n for that time, or until it dials.
  void tell(const CircuitLoad& over_m, const CircuitLoad& over_n, Duration time) {
    const std::size_t before = dials();
    for (Duration passed{0}; passed < time && dials() == before; passed += Duration(kLook)) {
      CircuitLoads loads{};
      loads[0] = over_m;
      loads[1] = over_n;
      circuits_->loads(loads);
      run_for(kLook);
    }
  }

  bool equal_ = true;
};

TEST_F(BalancedCircuitsTest, TheFlowMovesToTheAlternateThatCarriesLess) {
  begin_striped();
  tell({300 * kMegabyte, 100 * kMegabyte}, {100 * kMegabyte, 0}, minutes(1));
  ASSERT_EQ(dials(), 3U);
  const CircuitSetup moved = paths_.reach();
  EXPECT_EQ(moved.hops[0].to_node, "n");
  EXPECT_EQ(moved.rank, 0);
  EXPECT_GT(moved.offer, flow_.joined[0].offer) << "so the destination makes it the primary";
  EXPECT_EQ(moved.share, CircuitShare::kBundle);
  ++flow_.next_slot;
  paths_.accept();
  paths_.turn();
  // The path that it has left becomes its alternate.
  const CircuitSetup alternate = paths_.reach();
  EXPECT_EQ(alternate.hops[0].to_node, "m");
  EXPECT_EQ(alternate.share, CircuitShare::kAlternate);
  EXPECT_THAT(flow_.failures, IsEmpty());
}

TEST_F(BalancedCircuitsTest, ItStaysThereWhenPathsChange) {
  begin_striped();
  tell({300 * kMegabyte, 100 * kMegabyte}, {100 * kMegabyte, 0}, minutes(1));
  accept();
  ASSERT_EQ(flow_.joined.back().hops[0].to_node, "n");
  accept();
  run_for(seconds(10));
  const std::size_t before = dials();
  circuits_->paths_changed(milliseconds(1));
  run_for(seconds(10));
  EXPECT_EQ(dials(), before);
}

TEST_F(BalancedCircuitsTest, ItStaysWhereTheOtherPathIsLongerOrSlower) {
  equal_ = false;
  begin_striped();
  tell({300 * kMegabyte, 100 * kMegabyte}, {0, 0}, minutes(5));
  EXPECT_EQ(dials(), 2U);
}

TEST_F(BalancedCircuitsTest, AMoveThatFailsIsGivenUp) {
  begin_striped();
  tell({300 * kMegabyte, 100 * kMegabyte}, {100 * kMegabyte, 0}, minutes(1));
  paths_.reach();
  paths_.refuse("no room");
  run_for(seconds(60));
  const std::size_t before = dials();
  circuits_->paths_changed(milliseconds(1));
  run_for(seconds(10));
  EXPECT_EQ(dials(), before) << "it is on the first path of its own turn";
  EXPECT_THAT(flow_.failures, IsEmpty());
}

TEST_F(BalancedCircuitsTest, ASearchThatMeetsAnErrorIsGivenUp) {
  begin_striped();
  paths_.no_path = absl::UnavailableError("the node restarts");
  tell({300 * kMegabyte, 100 * kMegabyte}, {100 * kMegabyte, 0}, minutes(1));
  paths_.no_path = absl::OkStatus();
  circuits_->paths_changed(milliseconds(1));
  run_for(seconds(10));
  EXPECT_EQ(dials(), 2U);
}

TEST_F(BalancedCircuitsTest, ItStaysWherePathsCarryTheSame) {
  begin_striped();
  tell({200 * kMegabyte, 100 * kMegabyte}, {200 * kMegabyte, 0}, minutes(5));
  EXPECT_EQ(dials(), 2U);
}

TEST_F(BalancedCircuitsTest, ItStaysIfTheNodeNeverOffersThatPathFirst) {
  begin_striped();
  paths_.offers_to = [](std::uint64_t) {
    return PathOffers{as(kOverM, PathKind::kFirst, false), as(kOverN, PathKind::kAlternate, true)};
  };
  tell({300 * kMegabyte, 100 * kMegabyte}, {100 * kMegabyte, 0}, minutes(1));
  EXPECT_EQ(dials(), 2U);
  EXPECT_THAT(flow_.failures, IsEmpty());
}

}  // namespace
}  // namespace cableway
