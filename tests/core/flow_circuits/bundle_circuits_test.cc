// The circuits of a flow's bundle:
//
//       +--c0--+
//   a --+--c1--+-- b      c0: the first path; c1, c2, c3: parallel to it
//       +--c2--+          am, mb: an alternate
//       +--c3--+
//       +- m --+
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/flow_circuits/played_flow.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::kOverM;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

PathOffer over(const std::string& cable, PathKind kind, bool may_stripe = true) {
  PathOffer offer = test::path_over({{cable, "b"}});
  offer.kind = kind;
  offer.may_stripe = may_stripe;
  return offer;
}

PathOffer alternate() {
  PathOffer offer = kOverM;
  offer.kind = PathKind::kAlternate;
  return offer;
}

class BundleCircuitsTest : public test::SourceCircuitsFixture {
 protected:
  BundleCircuitsTest() {
    paths_.offers = {over("c0", PathKind::kFirst), over("c1", PathKind::kBundle), over("c2", PathKind::kBundle),
                     alternate()};
  }
  // Accepts the newest dial; the next one is in the next slot. Returns its set-up.
  CircuitSetup accept() {
    const CircuitSetup setup = paths_.reach();
    ++flow_.next_slot;
    paths_.accept();
    paths_.turn();
    return setup;
  }
  // Whether the next dial, within that time, is over this cable.
  bool dials_next(const std::string& cable, Duration within) {
    const std::size_t before = dials();
    for (Duration waited{0}; waited < within && dials() == before; waited += milliseconds(10))
      run_for(milliseconds(10));
    return dials() > before && dialled() == cable;
  }
  void end(std::uint8_t slot, std::uint32_t generation) {
    --flow_.alive;
    circuits_->circuit_ended({slot, generation}, absl::UnavailableError("cut"));
  }
  void begin_striped() {
    begin();
    first_ = accept();
    circuits_->stripe();
    paths_.turn();
  }
  // A whole bundle, whose node then offers `offers`: the circuit on their first path is being set up.
  void begin_to_move(const PathOffers& offers) {
    begin_striped();
    accept();
    accept();
    paths_.offers = offers;
    circuits_->paths_changed(milliseconds(1));
    run_for(milliseconds(2));
    ASSERT_EQ(dialled(), offers.front().hops.front().cable);
  }

  // With alternates, too.
  void begin_with_all() {
    circuits_.emplace(
        paths_.means, identity_,
        SourceCircuits::Limits{
            .open = seconds(10), .path_wait = seconds(30), .chunk_bytes = 1U << 20, .shares = CircuitShare::kAlternate},
        flow_);
    circuits_->start();
    paths_.turn();
    first_ = accept();
    circuits_->stripe();
    paths_.turn();
  }

  CircuitSetup first_;
};

TEST_F(BundleCircuitsTest, AFlowThatCarriesMuchHasItsBundle) {
  begin_striped();
  EXPECT_EQ(first_.share, CircuitShare::kBundle);
  EXPECT_EQ(dialled(), "c1");
  const CircuitSetup second = accept();
  EXPECT_EQ(dialled(), "c2");
  const CircuitSetup third = accept();
  EXPECT_EQ(first_.bundle(), second.bundle());
  EXPECT_EQ(first_.bundle(), third.bundle());
  EXPECT_GT(second.rank, first_.rank) << "the first path stays the primary";
  run_for(seconds(60));
  EXPECT_EQ(dials(), 3U) << "alternates are not of the bundle";
  EXPECT_THAT(flow_.ended, IsEmpty());
}

TEST_F(BundleCircuitsTest, AFlowThatCarriesLittleHasOneCircuit) {
  begin();
  accept();
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U);
}

TEST_F(BundleCircuitsTest, WithoutBundlesNothingIsStriped) {
  circuits_.emplace(
      paths_.means, identity_,
      SourceCircuits::Limits{
          .open = seconds(10), .path_wait = seconds(30), .chunk_bytes = 1U << 20, .shares = CircuitShare::kNone},
      flow_);
  circuits_->start();
  paths_.turn();
  EXPECT_EQ(accept().share, CircuitShare::kNone);
  circuits_->stripe();
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U);
}

// A flow looks for a missing circuit every few seconds, but at once if it has none and its application waits.
TEST_F(BundleCircuitsTest, TheLossOfTheLastCircuitWaitsForNoCircuitBesideIt) {
  paths_.offers = {over("c0", PathKind::kFirst), over("c1", PathKind::kBundle)};
  begin_striped();
  paths_.reach();
  paths_.refuse("no room");
  run_for(milliseconds(1500));
  const std::size_t before = dials();
  flow_.waiting = false;
  end(first_.circuit.slot, first_.circuit.generation);
  run_for(milliseconds(100));
  EXPECT_EQ(dials(), before) << "nothing is to be sent";
  flow_.waiting = true;
  run_for(milliseconds(150));
  EXPECT_EQ(dials(), before + 1);
}

TEST_F(BundleCircuitsTest, WhatAddsNothingIsLeftOut) {
  paths_.offers = {over("c0", PathKind::kFirst), over("c1", PathKind::kBundle, false), over("c2", PathKind::kBundle)};
  begin_striped();
  EXPECT_EQ(dialled(), "c2");
}

TEST_F(BundleCircuitsTest, FourCircuitsAtMost) {
  paths_.offers = {over("c0", PathKind::kFirst), over("c1", PathKind::kBundle), over("c2", PathKind::kBundle),
                   over("c3", PathKind::kBundle), over("c4", PathKind::kBundle)};
  begin_striped();
  accept();
  accept();
  accept();
  run_for(seconds(60));
  EXPECT_EQ(dials(), 4U);
}

TEST_F(BundleCircuitsTest, AParallelPathThatFailsIsTriedAgainLater) {
  begin_striped();
  paths_.reach();
  paths_.refuse("no room");
  EXPECT_THAT(flow_.failures, IsEmpty());
  ASSERT_TRUE(dials_next("c2", milliseconds(100))) << "the others first";
  accept();
  run_for(milliseconds(500));
  EXPECT_EQ(dials(), 3U);
  ASSERT_TRUE(dials_next("c1", seconds(10)));
  accept();
  run_for(seconds(60));
  EXPECT_EQ(dials(), 4U);
}

TEST_F(BundleCircuitsTest, AParallelCircuitThatEndsIsReplaced) {
  begin_striped();
  accept();
  accept();
  flow_.next_slot = 1;
  end(1, 2);
  ASSERT_TRUE(dials_next("c1", seconds(10)));
  EXPECT_EQ(accept().bundle(), first_.bundle());
  EXPECT_THAT(flow_.ended, IsEmpty());
}

TEST_F(BundleCircuitsTest, TheFirstPathReturnsToItsBundle) {
  begin_striped();
  accept();
  accept();
  flow_.next_slot = 0;
  end(0, 1);
  ASSERT_TRUE(dials_next("c0", seconds(10)));
  const CircuitSetup again = accept();
  EXPECT_EQ(again.bundle(), first_.bundle());
  EXPECT_EQ(again.rank, 0);
  run_for(seconds(60));
  EXPECT_THAT(flow_.ended, IsEmpty());
  EXPECT_EQ(dials(), 4U);
}

// As where c1 drains: the flow gets a new bundle beside the old one, as far as it has room, and leaves the old one.
TEST_F(BundleCircuitsTest, APathThatIsNoLongerOfferedIsLeft) {
  begin_to_move({over("c0", PathKind::kFirst), over("c2", PathKind::kBundle)});
  flow_.slots = 0;
  EXPECT_EQ(accept().offer, first_.offer + 1);
  run_for(seconds(4));
  EXPECT_EQ(dials(), 4U);
  EXPECT_THAT(flow_.ended, UnorderedElementsAre(CircuitName{0, 1}, CircuitName{1, 2}, CircuitName{2, 3}));
  flow_.slots = 4;
  flow_.next_slot = 0;
  end(0, 1);
  end(1, 2);
  end(2, 3);
  ASSERT_TRUE(dials_next("c2", seconds(2))) << "the new bundle is complete only with it";
  EXPECT_EQ(accept().offer, first_.offer + 1);
  run_for(seconds(60));
  EXPECT_EQ(dials(), 5U);
}

TEST_F(BundleCircuitsTest, WithoutItsFirstPathABundleStaysComplete) {
  begin_striped();
  accept();
  accept();
  end(0, 1);
  paths_.offers = {over("c1", PathKind::kFirst), over("c2", PathKind::kBundle)};
  run_for(seconds(5));
  EXPECT_EQ(dials(), 3U);
  flow_.next_slot = 2;
  end(2, 3);
  ASSERT_TRUE(dials_next("c2", seconds(20)));
  EXPECT_EQ(accept().bundle(), first_.bundle());
  run_for(seconds(60));
  EXPECT_THAT(flow_.ended, IsEmpty());
  EXPECT_EQ(dials(), 4U);
}

// Equal paths take turns as the first one of an offer, by the flow's number.
TEST_F(BundleCircuitsTest, AnotherOrderOfThePathsThatAreLeftChangesNothing) {
  paths_.offers.pop_back();  // the alternate
  begin_striped();
  accept();
  accept();
  circuits_->want(2);
  end(0, 1);
  paths_.offers = {over("c2", PathKind::kFirst), over("c1", PathKind::kBundle)};
  run_for(seconds(60));
  EXPECT_EQ(dials(), 3U);
  EXPECT_THAT(flow_.ended, IsEmpty());
}

// All of the old bundle's circuits end, although a standby is wanted: the new one and the next move need their places.
TEST_F(BundleCircuitsTest, ABundleThatWasLeftKeepsNoPlace) {
  paths_.offers.pop_back();  // the alternate
  begin_striped();
  accept();
  accept();
  circuits_->want(2);
  paths_.offers = {over("c3", PathKind::kFirst), over("c0", PathKind::kBundle), over("c1", PathKind::kBundle),
                   over("c2", PathKind::kBundle)};
  circuits_->paths_changed(milliseconds(1));
  run_for(milliseconds(2));
  ASSERT_EQ(dialled(), "c3");
  accept();
  flow_.slots = 0;
  run_for(seconds(4));
  EXPECT_THAT(flow_.ended, UnorderedElementsAre(CircuitName{0, 1}, CircuitName{1, 2}, CircuitName{2, 3}));
}

TEST_F(BundleCircuitsTest, TheLastPlaceIsKeptForAStandby) {
  paths_.offers = {over("c0", PathKind::kFirst), over("c1", PathKind::kBundle), over("c2", PathKind::kBundle),
                   over("c3", PathKind::kBundle), alternate()};
  begin();
  accept();
  circuits_->want(2);
  paths_.turn();
  const std::string detour = dialled();
  paths_.reach();
  paths_.refuse("no room");
  circuits_->stripe();
  ASSERT_TRUE(dials_next("c1", seconds(2)));
  accept();
  ASSERT_EQ(dialled(), "c2");
  accept();
  ASSERT_TRUE(dials_next(detour, seconds(20))) << "c3 would be the fourth circuit";
}

TEST_F(BundleCircuitsTest, AParallelPathThatAlwaysFailsIsTriedEverLessOften) {
  paths_.offers = {over("c0", PathKind::kFirst), over("c1", PathKind::kBundle)};
  begin_striped();
  std::size_t tries = 0;
  for (int i = 0; i < 6000; ++i) {
    if (dials() > 1 + tries) {
      ++tries;
      paths_.reach();
      paths_.refuse("no room");
    }
    run_for(milliseconds(100));
  }
  EXPECT_GT(tries, 5U);
  EXPECT_LT(tries, 35U) << "in ten minutes";
  EXPECT_THAT(flow_.failures, IsEmpty());
}

TEST_F(BundleCircuitsTest, ANewFirstCircuitThatEndsAtOnceTakesNothingWithIt) {
  begin_to_move({over("c3", PathKind::kFirst), alternate()});
  accept();
  run_for(seconds(1));
  end(3, 4);
  run_for(milliseconds(2500));
  EXPECT_THAT(flow_.ended, IsEmpty());
}

TEST_F(BundleCircuitsTest, TheBundleFollowsTheFirstPath) {
  begin_to_move({over("c3", PathKind::kFirst), alternate()});
  accept();
  run_for(seconds(4));
  EXPECT_EQ(flow_.ended.size(), 3U);
}

TEST_F(BundleCircuitsTest, AfterItsBundleAFlowHasAlternates) {
  begin_with_all();
  EXPECT_EQ(accept().share, CircuitShare::kBundle);
  EXPECT_EQ(accept().share, CircuitShare::kBundle);
  EXPECT_EQ(dialled(), "am");
  const CircuitSetup other = accept();
  EXPECT_EQ(other.share, CircuitShare::kAlternate);
  EXPECT_EQ(other.bundle(), first_.bundle());
  EXPECT_GT(other.rank, first_.rank);
  run_for(seconds(60));
  EXPECT_EQ(dials(), 4U);
  EXPECT_THAT(flow_.ended, IsEmpty());
}

TEST_F(BundleCircuitsTest, AnAlternateThatAddsNothingIsLeftOut) {
  paths_.offers = {over("c0", PathKind::kFirst), alternate()};
  paths_.offers[1].may_stripe = false;
  begin_with_all();
  run_for(seconds(60));
  EXPECT_EQ(dials(), 1U);
}

// It carries the flow as the first path did. The first path joins the flow again later.
TEST_F(BundleCircuitsTest, AnAlternateThatIsAloneStays) {
  paths_.offers = {over("c0", PathKind::kFirst), alternate()};
  begin_with_all();
  accept();
  end(0, 1);
  PathOffer only = kOverM;
  only.kind = PathKind::kFirst;
  paths_.offers = {only};
  run_for(seconds(20));
  EXPECT_EQ(dials(), 2U);
  paths_.offers = {over("c0", PathKind::kFirst), alternate()};
  flow_.next_slot = 0;
  circuits_->paths_changed(milliseconds(1));
  ASSERT_TRUE(dials_next("c0", seconds(40)));
  EXPECT_EQ(accept().bundle(), first_.bundle());
  run_for(seconds(60));
  EXPECT_EQ(dials(), 3U);
  EXPECT_THAT(flow_.ended, IsEmpty());
}

// The circuit there is an alternate's at every relay, so another one is set up.
TEST_F(BundleCircuitsTest, AnAlternateWhosePathBecomesTheFirstIsReplaced) {
  paths_.offers = {over("c0", PathKind::kFirst), alternate()};
  begin_with_all();
  accept();
  PathOffer first = kOverM;
  first.kind = PathKind::kFirst;
  paths_.offers = {first, over("c0", PathKind::kAlternate)};
  circuits_->paths_changed(milliseconds(1));
  ASSERT_TRUE(dials_next("am", seconds(1)));
  const CircuitSetup better = accept();
  EXPECT_EQ(better.share, CircuitShare::kBundle);
  EXPECT_EQ(better.offer, first_.offer + 1);
  EXPECT_EQ(dialled(), "c0");
  EXPECT_EQ(accept().share, CircuitShare::kAlternate);
  run_for(seconds(4));
  EXPECT_THAT(flow_.ended, UnorderedElementsAre(CircuitName{0, 1}, CircuitName{1, 2}));
}

}  // namespace
}  // namespace cableway
