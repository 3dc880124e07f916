// How a relay shares out its places among the neighbours that set-ups come from (docs/decisions/0028).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/circuit/played_transit.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;
using test::PlayedPeer;
using testing::HasSubstr;
using testing::IsEmpty;

class TransitSharesTest : public test::PlayedTransit {
 protected:
  using Peers = std::vector<std::shared_ptr<PlayedPeer>>;

  TransitSharesTest() { host_.limit = kPlaces; }
  // From n2 to n0.
  static CircuitSetup back() {
    CircuitSetup setup = PlayedTransit::setup(10'000);
    setup.from_node = "n2";
    setup.hops = {{"c1", "10.0.1.2", "n1", "10.0.1.1", 7000, false}, {"c0", "10.0.0.1", "n0", "10.0.0.2", 7001, false}};
    return setup;
  }
  // Set-ups whose destination never answers.
  Peers flood(std::size_t number, const std::string& from, const CircuitSetup& setup) {
    Peers open;
    for (std::size_t i = 0; i < number; ++i) {
      auto peer = arrive(setup, from);
      if (peer->is_open) open.push_back(std::move(peer));
    }
    return open;
  }
  // A set-up that opens at once.
  std::shared_ptr<PlayedPeer> open(const CircuitSetup& setup, const std::string& from) {
    auto upstream = arrive(setup, from);
    if (upstream->is_open) answer(*connector_.reach(), {});
    return upstream;
  }

  static constexpr std::size_t kPlaces = 997;         // of 2 GiB
  static constexpr const char* kFirst = "10.0.0.2";   // node n0
  static constexpr const char* kSecond = "10.0.1.2";  // node n2
  static constexpr const char* kElsewhere = "10.0.0.77";
};

TEST_F(TransitSharesTest, SetUpsOfOneNeighbourThatHangKeepNoOtherOut) {
  const Peers hanging = flood(1200, kFirst, setup(10'000));
  EXPECT_EQ(hanging.size(), 655U) << "three quarters of what set-ups may hold";
  EXPECT_EQ(host_.checks, hanging.size()) << "what is refused for its share costs no look at the topology";
  const auto other = open(back(), kSecond);
  EXPECT_EQ(host_.relayed, 1U);
  EXPECT_THAT(other->final_frame, IsEmpty());
  // And as many at a time as are kept for it.
  EXPECT_EQ(flood(1200, kSecond, back()).size(), TransitSetups::max_in_setup(kPlaces) / 4);
}

TEST_F(TransitSharesTest, ASetUpThatHangsGivesWayToANewerOneOfItsNeighbour) {
  const Peers hanging = flood(1200, kFirst, setup(10'000));
  EXPECT_THAT(busy_reason_at(*arrive(setup(), kFirst)),
              "node n1 has no room for another circuit from node n0 now: 655 set-ups from there are in progress, of at "
              "most 873 from all peers; try again");
  clock_.run_for(TransitSetups::kGivesWayAfter);
  EXPECT_EQ(open(setup(), kFirst)->final_frame.size(), 0U);
  EXPECT_EQ(host_.relayed, 1U);
  EXPECT_THAT(busy_reason_at(*hanging.front()),
              HasSubstr("node n1 needs the place for a newer set-up from node n0: this one was not open after 20"));
  EXPECT_TRUE(hanging[1]->is_open);
}

TEST_F(TransitSharesTest, ASetUpOfFewNeverGivesWay) {
  host_.limit = 4;
  const Peers slow = flood(10, kFirst, setup(10'000));
  EXPECT_EQ(slow.size(), 3U);
  clock_.run_for(milliseconds(5000));
  EXPECT_THAT(busy_reason_at(*arrive(setup(), kFirst)), HasSubstr("no room for another circuit from node n0"));
  for (const auto& each : slow) EXPECT_TRUE(each->is_open);
}

TEST_F(TransitSharesTest, CircuitsOfOneNeighbourLeaveTheOthersTheirShare) {
  host_.limit = 8;
  for (int i = 0; i < 6; ++i) open(setup(), kFirst);
  EXPECT_EQ(host_.relayed, 6U);
  EXPECT_EQ(busy_reason_at(*open(setup(), kFirst)),
            "node n1 has no room for another circuit from node n0: 6 of 8 places are in use from there; the rest is "
            "used by or reserved for others");
  for (int i = 0; i < 2; ++i) open(back(), kSecond);
  EXPECT_EQ(host_.relayed, 8U);
  EXPECT_EQ(busy_reason_at(*open(back(), kSecond)), "full, with 0 in set-up");
  // A circuit that ends gives its place back, to whom it was kept for.
  --host_.relayed;
  transit_.circuit_ended(back());
  EXPECT_THAT(busy_reason_at(*open(setup(), kFirst)), HasSubstr("the rest is used by or reserved for others"));
  open(back(), kSecond);
  EXPECT_EQ(host_.relayed, 8U);
  --host_.relayed;
  transit_.circuit_ended(setup());
  open(setup(), kFirst);
  EXPECT_EQ(host_.relayed, 8U);
}

TEST_F(TransitSharesTest, WhoIsNoNeighbourHasNoMoreThanOneShare) {
  host_.transit = absl::NotFoundError("no cable c1");
  EXPECT_EQ(flood(1200, kElsewhere, setup(10'000)).size(), TransitSetups::kMaxWaiting / 4);
  EXPECT_EQ(flood(1200, kFirst, setup(10'000)).size(), TransitSetups::kMaxWaiting / 2)
      << "what the others neither hold nor keep";
  EXPECT_EQ(busy_reason_at(*arrive(setup(), kFirst)),
            "node n1 already has 128 set-ups from node n0 that wait for the topology; last: no cable c1");
  EXPECT_EQ(flood(1200, kSecond, back()).size(), TransitSetups::kMaxWaiting / 4);
}

TEST_F(TransitSharesTest, InquiriesOfOneNeighbourKeepNoOtherOut) {
  CircuitSetup inquiry = setup();
  inquiry.purpose = SetupPurpose::kInquiry;
  EXPECT_EQ(flood(1200, kFirst, inquiry).size(), TransitSetups::kMaxInquiries);
  CircuitSetup other = back();
  other.purpose = SetupPurpose::kInquiry;
  EXPECT_TRUE(arrive(other, kSecond)->is_open);
}

// A neighbour that is as many names on its cable as a segment may have ports.
class TransitCrowdTest : public TransitSharesTest {
 protected:
  TransitCrowdTest() {
    for (int i = 0; i < 112; ++i) {
      names_.push_back("10.0.0." + std::to_string(100 + i));
      host_.addresses[names_.back()] = {"eth0", "x" + std::to_string(i)};
    }
  }
  // As many set-ups that hang as all names together may have.
  std::size_t crowd(CircuitSetup setup) {
    std::size_t open = 0;
    for (bool some = true; std::exchange(some, false);) {
      for (const std::string& name : names_) {
        setup.hops[0].from_address = name;
        const Peers more = flood(1, name, setup);
        open += more.size();
        some = some || !more.empty();
        kept_.insert(kept_.end(), more.begin(), more.end());
      }
    }
    return open;
  }

  std::vector<std::string> names_;
  Peers kept_;
};

TEST_F(TransitCrowdTest, SetUpsLeaveTheOtherPortItsShare) {
  EXPECT_LE(crowd(setup(10'000)), 655U);
  EXPECT_EQ(flood(1200, kSecond, back()).size(), TransitSetups::max_in_setup(kPlaces) / 4);
}

TEST_F(TransitCrowdTest, SetUpsThatWaitLeaveTheOtherPortItsShare) {
  host_.transit = absl::NotFoundError("no cable c1");
  EXPECT_EQ(crowd(setup(10'000)), TransitSetups::kMaxWaiting * 3 / 4);
  EXPECT_EQ(flood(1200, kSecond, back()).size(), TransitSetups::kMaxWaiting / 4);
}

TEST_F(TransitCrowdTest, InquiriesLeaveTheOtherPortItsShare) {
  CircuitSetup inquiry = setup();
  inquiry.purpose = SetupPurpose::kInquiry;
  EXPECT_LE(crowd(inquiry), TransitSetups::kMaxInquiriesOfAll * 3 / 4);
  EXPECT_THAT(busy_reason_at(*arrive(inquiry, names_[0])),
              HasSubstr("inquiries from node x0; the rest of what it passes on is used by or reserved for others"));
  CircuitSetup other = back();
  other.purpose = SetupPurpose::kInquiry;
  EXPECT_EQ(flood(1200, kSecond, other).size(), TransitSetups::kMaxInquiries);
}

TEST_F(TransitCrowdTest, CircuitsLeaveTheOtherPortItsShareThoughNamesChange) {
  std::size_t opened = 0;
  for (const std::string& name : names_) {
    CircuitSetup from_name = setup();
    from_name.hops[0].from_address = name;
    while (open(from_name, name)->final_frame.empty()) ++opened;
    host_.addresses.erase(name);
  }
  while (open(setup(), kFirst)->final_frame.empty()) ++opened;
  EXPECT_EQ(opened, host_.relayed);
  EXPECT_EQ(opened, 748U);
  while (open(back(), kSecond)->final_frame.empty()) ++opened;
  EXPECT_EQ(opened, kPlaces);
  // A place that is given back is its port's.
  --host_.relayed;
  transit_.circuit_ended(back());
  EXPECT_THAT(busy_reason_at(*open(setup(), kFirst)), HasSubstr("no room for another circuit from node n0"));
  EXPECT_THAT(open(back(), kSecond)->final_frame, IsEmpty());
}

// 50 communicators on 8 nodes, whose flows have all asked for their further circuits before the last of them asks for
// its first one.
TEST_F(TransitSharesTest, FurtherCircuitsOfManyFlowsKeepNoFlowOut) {
  constexpr std::size_t kFlows = 50 * 8;
  host_.limit = 2 * kFlows;
  CircuitSetup beside = setup();
  CircuitSetup beside_back = back();
  beside.further = beside_back.further = true;
  for (std::size_t i = 0; i < kFlows; ++i) {
    open(beside, kFirst);
    open(beside_back, kSecond);
  }
  EXPECT_EQ(host_.relayed, kFlows) << "half of the places";
  for (std::size_t i = 0; i < kFlows / 2; ++i) {
    open(setup(), kFirst);
    open(back(), kSecond);
  }
  EXPECT_EQ(host_.relayed, 2 * kFlows);
}

}  // namespace
}  // namespace cableway
