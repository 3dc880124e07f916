// A chunk of 1 MiB is lost with its circuit over TCP, is sent again as chunks of 64 KiB over a relay with RDMA, of
// which half are lost, too. Meanwhile both ends know as many separate ranges of the flow as they have room for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "core/flow/given_chunks.h"
#include "core/flow/landed_ranges.h"
#include "tests/core/flow/loose_hop.h"
#include "tests/core/flow/message_buffers.h"

namespace cableway {
namespace {

constexpr std::uint32_t kTcpChunk = 1U << 20;
constexpr std::uint32_t kRdmaChunk = 64U << 10;
constexpr std::uint32_t kRangeBytes = 384;  // of the ranges that fill the pools: three chunks of the smallest size
constexpr std::uint32_t kPieceBytes = 128;
constexpr std::size_t kRangesInLimbo = 126;  // with the chunk of 1 MiB and one that is given while a part of it waits

class ResentFlow : public testing::Test {
 protected:
  struct Circuit {
    test::LooseHop hop;
    CircuitName name;
  };

  Circuit& join(std::uint32_t chunk_bytes, bool over_rdma) {
    Circuit& circuit = circuits_.emplace_back();
    circuit.hop.destination.announces_each = over_rdma;
    circuit.hop.source.max_chunks = 0;
    circuit.name = sender_.reserve().value_or(CircuitName{});
    EXPECT_TRUE(receiver_.join(circuit.name, circuit.hop.destination, "").ok());
    EXPECT_TRUE(sender_.join(circuit.name, circuit.hop.source, "", chunk_bytes).ok());
    return circuit;
  }
  void post(std::size_t bytes) {
    sent_.emplace_back(sent_.size(), bytes);
    received_.emplace_back(bytes);
    ASSERT_TRUE(receiver_.post(received_.back().landing()).ok());
    ASSERT_TRUE(sender_.post(sent_.back().buffer(), bytes).ok());
  }
  // Frames without payload arrive, chunks stay where they are.
  void talk() {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(receiver_.progress().ok()) << receiver_.progress();
      for (Circuit& circuit : circuits_) {
        while (circuit.hop.deliver_up()) continue;
      }
      ASSERT_TRUE(sender_.progress().ok()) << sender_.progress();
      for (Circuit& circuit : circuits_) {
        const auto& out = circuit.hop.source.out();
        while (!out.empty() && out.front().frame.kind != FrameKind::kChunk) circuit.hop.deliver_down();
      }
    }
  }
  // The receiver makes it the primary, and the sender gives it at most `chunks` chunks, which are returned.
  std::vector<Frame> give(Circuit& circuit, std::size_t chunks) {
    receiver_.prefer(circuit.name);
    talk();
    circuit.hop.source.max_chunks = circuit.hop.source.out().size() + chunks;
    talk();
    circuit.hop.source.max_chunks = 0;
    return circuit.hop.source.new_chunks();
  }
  void land(Circuit& circuit, std::size_t chunks) {
    for (std::size_t i = 0; i < chunks; ++i) {
      ASSERT_FALSE(circuit.hop.source.out().empty());
      circuit.hop.deliver_down();
    }
    talk();
  }
  // Both ends find it dead, and nothing that is on its way arrives.
  void lose(Circuit& circuit) {
    circuit.hop.source.lose_all();
    circuit.hop.destination.lose_all();
    circuit.hop.source.notice();
    circuit.hop.destination.notice();
    talk();
    EXPECT_FALSE(sender_.is_live(circuit.name) || receiver_.is_live(circuit.name));
  }
  // One chunk after the other, each over this circuit, until nothing is left to be sent.
  std::vector<Frame> pass_rest(Circuit& circuit) {
    std::vector<Frame> passed;
    for (std::vector<Frame> given = give(circuit, 1); !given.empty(); given = give(circuit, 1)) {
      passed.insert(passed.end(), given.begin(), given.end());
      land(circuit, given.size());
    }
    return passed;
  }
  void expect_done() {
    talk();
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      EXPECT_TRUE(sender_.done(i)) << i;
      ASSERT_TRUE(receiver_.done(i)) << i;
      EXPECT_TRUE(received_[i].holds(i, sent_[i].size())) << i;
    }
  }

  FlowSender sender_;
  FlowReceiver receiver_;
  std::deque<Circuit> circuits_;
  std::deque<test::SentMessage> sent_;
  std::deque<test::ReceivedMessage> received_;
};

Frame chunk_of(std::uint64_t message, std::uint64_t offset, std::uint32_t payload, std::uint64_t size) {
  return Frame{FrameKind::kChunk, payload, message, offset, size};
}

TEST_F(ResentFlow, ALostChunkIsSentAgainInSmallerOnesAndHalfOfTheseOnceMore) {
  Circuit& tcp = join(kTcpChunk, false);
  Circuit& relayed = join(kRdmaChunk, true);
  post(kTcpChunk);
  EXPECT_EQ(give(tcp, 16), std::vector{chunk_of(0, 0, kTcpChunk, kTcpChunk)});
  lose(tcp);
  EXPECT_EQ(give(relayed, 64).size(), kTcpChunk / kRdmaChunk);
  land(relayed, 8);
  lose(relayed);
  const std::vector<Frame> last = pass_rest(join(kRdmaChunk, true));
  ASSERT_EQ(last.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(last[i], chunk_of(0, (8 + i) * kRdmaChunk, kRdmaChunk, kTcpChunk));
  EXPECT_EQ(sender_.traffic().bytes_again(), kTcpChunk + kTcpChunk / 2);
  expect_done();
}

// No range is known by itself, and none of the smaller chunks acknowledges a message.
TEST_F(ResentFlow, TwoFullWindowsAreSentAgainInSmallerChunks) {
  Circuit* const full[] = {&join(kRangeBytes, false), &join(kRangeBytes, false)};
  post(2 * GivenChunks::kMax * kRangeBytes);
  for (Circuit* each : full) ASSERT_EQ(give(*each, GivenChunks::kMax).size(), GivenChunks::kMax);
  for (Circuit* each : full) lose(*each);
  EXPECT_EQ(pass_rest(join(kPieceBytes, true)).size(), 2 * GivenChunks::kMax * kRangeBytes / kPieceBytes);
  expect_done();
}

// The ranges of message 0 that have landed lie between others that have not: the receiver knows each by itself. The
// sender gives them to circuits in turn, as their receiver moves its primary with each.
TEST_F(ResentFlow, SuchAChunkArrivesAlthoughThePoolOfRangesIsFull) {
  Circuit* const stalled[] = {&join(kRangeBytes, false), &join(kRangeBytes, false)};
  Circuit& lands = join(kRangeBytes, false);
  receiver_.stripe(lands.name, 1, CircuitShare::kBundle);  // it is told of each of its chunks
  post((2 * kRangesInLimbo + 1) * kRangeBytes);
  post(kTcpChunk);
  for (std::size_t i = 0; i < kRangesInLimbo; ++i) {
    ASSERT_EQ(give(*stalled[i % 2], 1), std::vector{chunk_of(0, 2 * i * kRangeBytes, kRangeBytes, sent_[0].size())});
    ASSERT_EQ(give(lands, 1).size(), 1U);
    land(lands, 1);
  }
  ASSERT_EQ(give(lands, 1).size(), 1U) << "the last range of message 0";
  land(lands, 1);

  Circuit& tcp = join(kTcpChunk, false);
  ASSERT_EQ(give(tcp, 16), std::vector{chunk_of(1, 0, kTcpChunk, kTcpChunk)});
  Circuit& relayed = join(kRdmaChunk, true);
  lose(tcp);
  const std::vector<Frame> few = give(relayed, 64);
  EXPECT_EQ(few.size(), 2U) << "a flow has room for 129 ranges: these two, the rest of the chunk, and message 0's";
  land(relayed, few.size());
  for (std::size_t i = 2; i < 8; ++i) {
    ASSERT_FALSE(give(relayed, 1).empty()) << i;
    land(relayed, 1);
  }
  give(relayed, 64);
  lose(relayed);

  // Now the ranges of message 0 come again, in pieces, of which half are lost; and what is left of message 1.
  for (Circuit* each : stalled) lose(*each);
  Circuit& pieces = join(kPieceBytes, true);
  for (std::size_t i = 0; i < kRangesInLimbo; ++i) {
    ASSERT_FALSE(give(pieces, 1).empty()) << i;
    land(pieces, 1);
  }
  ASSERT_FALSE(give(pieces, 64).empty());
  lose(pieces);
  pass_rest(join(kPieceBytes, true));
  expect_done();
}

}  // namespace
}  // namespace cableway
