// Two ends of a link over a pipe that loses, duplicates and reorders datagrams, in virtual time.
#include "core/flooding/adjacency_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "sim/virtual_clock.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;

class Side final : public AdjacencyLink::End {
 public:
  Side(sim::VirtualClock& clock, AdjacencyLink::Identity identity, std::uint64_t seed)
      : clock_(clock), random_(seed), link(identity, clock, allowance, *this) {}

  bool next_message(LinkMessage& message) override {
    if (to_send.empty()) return false;
    message = to_send.front();
    to_send.pop_front();
    return true;
  }
  void send_segment(std::span<const std::byte> body) override {
    ++segments;
    for (std::uint64_t copies = random_() % 10 == 0 ? 2 : 1; copies > 0; --copies) {
      if (random_() % 1000 < lost_per_mille) continue;
      const Duration delay = 100us + Duration(random_() % static_cast<std::uint64_t>(Duration(jitter).count() + 1));
      clock_.post_at(clock_.now() + delay, [this, bytes = std::vector(body.begin(), body.end())] {
        EXPECT_TRUE(peer->link.receive(bytes).ok());
      });
    }
  }
  void receive_message(const LinkMessage& message) override { received.push_back(message); }

 private:
  sim::VirtualClock& clock_;
  std::mt19937_64 random_;

 public:
  Side* peer = nullptr;
  std::uint64_t lost_per_mille = 0;
  Duration jitter{0};
  std::deque<LinkMessage> to_send;
  std::vector<LinkMessage> received;
  std::uint64_t segments = 0;
  SegmentAllowance allowance;
  AdjacencyLink link;
};

LinkMessage message_of(std::uint32_t number, std::size_t bytes) {
  LinkMessage message;
  message.bytes.assign(bytes, static_cast<std::byte>(number));
  for (std::size_t i = 0; i < 4 && i < bytes; ++i) message.bytes[i] = static_cast<std::byte>(number >> (8 * i));
  return message;
}

class AdjacencyLinkTest : public ::testing::Test {
 protected:
  AdjacencyLinkTest() {
    a_.peer = &b_;
    b_.peer = &a_;
  }

  sim::VirtualClock clock_;
  Side a_{clock_, {routing::NodeId{1}, routing::NodeId{2}, 11, 22}, 1};
  Side b_{clock_, {routing::NodeId{2}, routing::NodeId{1}, 22, 11}, 2};
};

TEST_F(AdjacencyLinkTest, DeliversEveryMessageOnceAndInOrderDespiteLoss) {
  for (Side* side : {&a_, &b_}) {
    side->lost_per_mille = 300;
    side->jitter = 20ms;
    for (std::uint32_t i = 0; i < 500; ++i) side->to_send.push_back(message_of(i, 4 + i * 37 % 3000));
    side->link.wake();
  }
  const std::deque<LinkMessage> sent = a_.to_send;
  ASSERT_TRUE(clock_.run_until_true(
      [&] { return a_.received.size() == 500 && b_.received.size() == 500 && a_.link.settled() && b_.link.settled(); },
      600s));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), b_.received.begin()));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), a_.received.begin()));
  EXPECT_GT(a_.link.retransmissions(), 0U);
}

TEST_F(AdjacencyLinkTest, BatchesMessages) {
  for (std::uint32_t i = 0; i < 100; ++i) a_.to_send.push_back(message_of(i, 60));
  a_.link.wake();
  clock_.run_for(1s);
  EXPECT_EQ(b_.received.size(), 100U);
  EXPECT_EQ(a_.segments, 1U);
  EXPECT_EQ(b_.segments, 1U) << "one acknowledgement";
  EXPECT_TRUE(a_.link.settled());
}

TEST_F(AdjacencyLinkTest, RequestsNoMoreThanItsWindowWithoutAcknowledgements) {
  a_.lost_per_mille = 1000;
  for (std::uint32_t i = 0; i < 100; ++i) a_.to_send.push_back(message_of(i, kSegmentBytes));
  a_.link.wake();
  clock_.run_for(10s);
  // And one more, requested but too large for the last segment.
  EXPECT_EQ(a_.to_send.size(), 100 - AdjacencyLink::kWindow - 1);
  EXPECT_FALSE(a_.link.settled());
  // The time-out doubles: 10 s contain some 20 of them, not 250.
  EXPECT_LT(a_.segments, 30 * AdjacencyLink::kWindow);
  a_.lost_per_mille = 0;
  clock_.run_for(10s);
  EXPECT_EQ(b_.received.size(), 100U);
}

// More than any database has segments, then as many as it likes.
TEST_F(AdjacencyLinkTest, AFloodIsTakenAtABoundedRate) {
  constexpr std::size_t kMany = 3000;
  for (std::uint32_t i = 0; i < kMany; ++i) a_.to_send.push_back(message_of(i, kSegmentBytes));
  a_.link.wake();
  clock_.run_for(1s);
  const std::size_t at_once = b_.received.size();
  EXPECT_GE(at_once, std::size_t{SegmentAllowance::kBurst});
  EXPECT_LE(at_once, SegmentAllowance::kBurst + 1s / SegmentAllowance::kEvery + AdjacencyLink::kWindow);
  clock_.run_for(5s);
  EXPECT_NEAR(static_cast<double>(b_.received.size() - at_once), 5s / SegmentAllowance::kEvery, 10);
  EXPECT_LT(b_.segments, b_.received.size() + 100) << "it acknowledges no faster than it is told";
  EXPECT_EQ(a_.link.retransmissions(), 0U) << "a neighbour that keeps to its window loses nothing";
  clock_.run_for(60s);
  EXPECT_EQ(b_.received.size(), kMany);
  EXPECT_TRUE(a_.link.settled());
}

// The allowance is used up, and segments and acknowledgements are lost.
TEST_F(AdjacencyLinkTest, DeliversAFloodDespiteLoss) {
  constexpr std::size_t kMany = 600;
  a_.lost_per_mille = b_.lost_per_mille = 300;
  for (std::uint32_t i = 0; i < kMany; ++i) a_.to_send.push_back(message_of(i, kSegmentBytes));
  a_.link.wake();
  EXPECT_TRUE(clock_.run_until_true([this] { return a_.link.settled() && b_.received.size() == kMany; }, 120s));
}

// A neighbour that does not wait for acknowledgements, and begins a new adjacency every second.
TEST_F(AdjacencyLinkTest, NoNeighbourGetsMoreThanItsAllowance) {
  std::size_t received = 0;
  for (int second = 0; second < 10; ++second) {
    const std::uint64_t number = 100 + second;
    Side side(clock_, {routing::NodeId{2}, routing::NodeId{1}, 22, number}, 3);
    side.peer = &a_;
    side.allowance = b_.allowance;
    std::uint32_t sequence = 1;
    for (int i = 0; i < 1000; ++i, clock_.run_for(1ms)) {
      const LinkSegment segment{2, 22, number, sequence, 0, {message_of(sequence, 100)}};
      EXPECT_TRUE(side.link.receive(encode_link_segment(segment)).ok());
      if (side.received.size() == sequence) ++sequence;  // else it tries again
    }
    b_.allowance = side.allowance;
    received += side.received.size();
    clock_.run_for(1ms);
  }
  const std::size_t allowed = SegmentAllowance::kBurst + 10s / SegmentAllowance::kEvery;
  EXPECT_GE(received, allowed - 10);
  EXPECT_LE(received, allowed + 10 * (AdjacencyLink::kWindow + 1));
}

TEST(SegmentAllowance, ChargesLargeSegmentsMore) {
  SegmentAllowance allowance;
  int taken = 0;
  while (allowance.take(Instant{}, 4 * kSegmentBytes)) ++taken;
  EXPECT_EQ(taken, SegmentAllowance::kBurst / 4);
  EXPECT_FALSE(allowance.take(Instant{}, 1));
  EXPECT_TRUE(allowance.take(Instant{4 * SegmentAllowance::kEvery}, 1));
}

TEST_F(AdjacencyLinkTest, IgnoresSegmentsOfAnotherAdjacency) {
  LinkSegment segment;
  segment.to = 1;
  segment.your_adjacency = 11;
  segment.my_adjacency = 22;
  segment.sequence = 1;
  segment.messages = {message_of(1, 10)};
  for (auto change : {+[](LinkSegment& it) { it.to = 3; }, +[](LinkSegment& it) { it.your_adjacency = 12; },
                      +[](LinkSegment& it) { it.my_adjacency = 23; }, +[](LinkSegment& it) { it.sequence = 2; }}) {
    LinkSegment other = segment;
    change(other);
    EXPECT_TRUE(a_.link.receive(encode_link_segment(other)).ok());
    EXPECT_TRUE(a_.received.empty());
  }
  EXPECT_TRUE(a_.link.receive(encode_link_segment(segment)).ok());
  EXPECT_EQ(a_.received.size(), 1U);
  EXPECT_FALSE(a_.link.receive(std::vector<std::byte>(3)).ok());
}

// An acknowledgement of unsent segments must not discard those sent.
TEST_F(AdjacencyLinkTest, IgnoresAcknowledgementsOfUnsentSegments) {
  a_.lost_per_mille = 1000;
  a_.to_send.push_back(message_of(1, 10));
  a_.link.wake();
  clock_.run_for(5ms);
  LinkSegment segment;
  segment.to = 1;
  segment.your_adjacency = 11;
  segment.my_adjacency = 22;
  segment.acknowledged = 1000;
  EXPECT_TRUE(a_.link.receive(encode_link_segment(segment)).ok());
  EXPECT_FALSE(a_.link.settled());
}

}  // namespace
}  // namespace cableway
