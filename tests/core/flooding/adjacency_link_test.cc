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
      : clock_(clock), random_(seed), link(identity, clock, *this) {}

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
  EXPECT_GE(at_once, std::size_t{AdjacencyLink::kBurst});
  EXPECT_LE(at_once, AdjacencyLink::kBurst + 1s / AdjacencyLink::kEvery + AdjacencyLink::kWindow);
  clock_.run_for(5s);
  EXPECT_NEAR(static_cast<double>(b_.received.size() - at_once), 5s / AdjacencyLink::kEvery, 10);
  EXPECT_LT(b_.segments, b_.received.size() + 100) << "it acknowledges no faster than it is told";
  EXPECT_EQ(a_.link.retransmissions(), 0U) << "a neighbour that keeps to its window loses nothing";
  clock_.run_for(60s);
  EXPECT_EQ(b_.received.size(), kMany);
  EXPECT_TRUE(a_.link.settled());
}

// A neighbour that does not wait for acknowledgements.
TEST_F(AdjacencyLinkTest, SegmentsBeyondTheWindowAreDropped) {
  std::uint32_t sequence = 0;
  for (Duration end = clock_.now().since_start + 10s; clock_.now().since_start < end; clock_.run_for(1ms)) {
    const LinkMessage message = message_of(++sequence, 100);
    LinkSegment segment{2, 22, 11, sequence, 0, {message}};
    EXPECT_TRUE(b_.link.receive(encode_link_segment(segment)).ok());
    if (b_.received.size() < sequence) --sequence;  // it tries again
  }
  EXPECT_LE(b_.received.size(), AdjacencyLink::kBurst + 10s / AdjacencyLink::kEvery + AdjacencyLink::kWindow + 1);
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
