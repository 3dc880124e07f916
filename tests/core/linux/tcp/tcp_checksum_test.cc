// Checksums of chunks over TCP: who makes them, who checks them, and what a chunk that fails leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/flow/chunk_checksum.h"
#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "core/linux/tcp/landing_reader.h"
#include "core/linux/tcp/pipe_slot.h"
#include "core/linux/tcp/tcp_chunk_link.h"
#include "core/rdma/registered_slot.h"
#include "core/relay/relay_circuit.h"
#include "tests/core/flow/message_buffers.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host {
namespace {

using cableway::test::ReceivedMessage;
using cableway::test::SentMessage;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Place = TcpChunkLink::Place;

// A chunk as it arrives: with the checksum of the bytes that were sent.
struct ChunkOnWire {
  explicit ChunkOnWire(std::uint32_t bytes)
      : message(0, bytes),
        payload(message.bytes().begin(), message.bytes().end()),
        frame(with_checksum({FrameKind::kChunk, bytes, 0, 0, bytes}, payload.data())) {}

  // Two words of the same alignment change places.
  void damage(std::size_t at) {
    std::swap_ranges(payload.begin() + static_cast<std::ptrdiff_t>(at),
                     payload.begin() + static_cast<std::ptrdiff_t>(at) + 2,
                     payload.begin() + static_cast<std::ptrdiff_t>(at) + 2);
  }
  std::vector<std::byte> bytes() const {
    const FrameBytes header = encode_frame(frame);
    std::vector<std::byte> all(header.begin(), header.end());
    all.insert(all.end(), payload.begin(), payload.end());
    return all;
  }

  SentMessage message;
  std::vector<std::byte> payload;
  Frame frame;
};

class ChecksumAtDestination : public testing::Test {
 protected:
  void open(std::uint32_t bytes, bool checksums = true) {
    auto [ours, theirs] = test::connected_pair();
    link_ = std::make_unique<TcpChunkLink>(std::move(ours), Place::kFlowEnd, SlotKind::kUnregistered, checksums);
    peer_ = std::move(theirs);
    receiver_ = std::make_unique<FlowReceiver>(*link_);
    landing_ = std::make_unique<ReceivedMessage>(bytes);
    landing_->reuse();
    ASSERT_TRUE(receiver_->post(landing_->landing()).ok());
    EXPECT_EQ(test::read_frame(peer_.get()).kind, FrameKind::kAnnounce);
  }
  // Runs until the flow fails or message 0 is complete.
  absl::Status run() {
    absl::Status status;
    EXPECT_TRUE(
        test::run_until([&] { return !status.ok() || receiver_->done(0); }, [&] { status = receiver_->progress(); }));
    return status;
  }
  void take(std::uint64_t bytes) {
    const std::uint64_t wanted = link_->bytes_moved() + bytes;
    ASSERT_TRUE(test::run_until([&] { return link_->bytes_moved() >= wanted; },
                                [&] { ASSERT_TRUE(receiver_->progress().ok()); }));
  }
  bool landed(const std::vector<std::byte>& payload) const {
    return std::equal(payload.begin(), payload.end(), landing_->room().begin());
  }

  std::unique_ptr<TcpChunkLink> link_;
  UniqueFd peer_;
  std::unique_ptr<FlowReceiver> receiver_;
  std::unique_ptr<ReceivedMessage> landing_;
};

TEST_F(ChecksumAtDestination, AcceptsWhatWasSent) {
  for (const std::uint32_t bytes :
       {1U, 128U, 1000U, LandingReader::kHeldBytes, LandingReader::kHeldBytes + 128, 1U << 20}) {
    open(bytes);
    const ChunkOnWire chunk(bytes);
    test::write_all(peer_.get(), chunk.bytes());
    EXPECT_TRUE(run().ok()) << bytes;
    EXPECT_TRUE(landed(chunk.payload)) << bytes;
  }
}

TEST_F(ChecksumAtDestination, PlacesNothingOfASmallChunkThatWasDamaged) {
  for (const std::uint32_t bytes : {128U, 1000U, LandingReader::kHeldBytes}) {
    open(bytes);
    ChunkOnWire chunk(bytes);
    chunk.damage(bytes / 2);
    test::write_all(peer_.get(), chunk.bytes());
    const absl::Status status = run();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("chunk corrupted"), HasSubstr("of message 0")));
    EXPECT_FALSE(receiver_->done(0));
    EXPECT_TRUE(landing_->still_reused()) << bytes;
  }
}

TEST_F(ChecksumAtDestination, DoesNotCountALargeChunkThatWasDamaged) {
  constexpr std::uint32_t kBytes = 1U << 20;
  for (const std::uint32_t at : {0U, kBytes / 2, kBytes - 4}) {
    open(kBytes);
    ChunkOnWire chunk(kBytes);
    chunk.damage(at);
    test::write_all(peer_.get(), chunk.bytes());
    EXPECT_TRUE(absl::IsDataLoss(run())) << at;
    EXPECT_FALSE(receiver_->done(0));
    // Its last bytes are never placed.
    EXPECT_EQ(landing_->room().back(), std::byte{0xee});
  }
}

TEST_F(ChecksumAtDestination, HoldsASmallChunkBackUntilAllOfItHasArrived) {
  const ChunkOnWire chunk(LandingReader::kHeldBytes);
  open(LandingReader::kHeldBytes);
  const std::vector<std::byte> all = chunk.bytes();
  test::write_all(peer_.get(), std::span(all).first(all.size() - 1));
  take(all.size() - 1);
  EXPECT_TRUE(landing_->still_reused());
  test::write_all(peer_.get(), std::span(all).last(1));
  EXPECT_TRUE(run().ok());
  EXPECT_TRUE(landed(chunk.payload));
}

TEST_F(ChecksumAtDestination, PlacesALargeChunkWhileItArrives) {
  const ChunkOnWire chunk(LandingReader::kHeldBytes + 128);
  open(LandingReader::kHeldBytes + 128);
  const std::vector<std::byte> all = chunk.bytes();
  test::write_all(peer_.get(), std::span(all).first(all.size() - 1));
  take(all.size() - 1);
  EXPECT_FALSE(landing_->still_reused());
}

TEST_F(ChecksumAtDestination, FollowsChunksThatAreSplitAnywhere) {
  constexpr std::uint32_t kBytes = 3 * 128 + 5;
  open(kBytes);
  const ChunkOnWire chunk(kBytes);
  for (const std::byte& byte : chunk.bytes()) {
    test::write_all(peer_.get(), std::span(&byte, 1));
    take(1);
  }
  EXPECT_TRUE(run().ok());
  EXPECT_TRUE(landed(chunk.payload));
}

TEST_F(ChecksumAtDestination, AcceptsAChunkWithoutOne) {
  open(1000);
  ChunkOnWire chunk(1000);
  chunk.frame.checksum = 0;
  test::write_all(peer_.get(), chunk.bytes());
  EXPECT_TRUE(run().ok());
}

TEST_F(ChecksumAtDestination, IgnoresItWhereTheSettingIsOff) {
  open(1000, false);
  ChunkOnWire chunk(1000);
  chunk.damage(4);
  test::write_all(peer_.get(), chunk.bytes());
  EXPECT_TRUE(run().ok());
  EXPECT_TRUE(landed(chunk.payload));
}

TEST_F(ChecksumAtDestination, RefusesADamagedHeaderBeforeAnythingIsPlaced) {
  open(1000);
  std::vector<std::byte> all = ChunkOnWire(1000).bytes();
  all[16] = std::byte{1};  // the place in the message
  test::write_all(peer_.get(), all);
  EXPECT_TRUE(absl::IsDataLoss(run()));
  EXPECT_TRUE(landing_->still_reused());
}

// The header that a link sends for a chunk in memory.
Frame sent_from_memory(bool checksums) {
  auto [ours, theirs] = test::connected_pair();
  TcpChunkLink link(std::move(ours), Place::kFlowEnd, SlotKind::kUnregistered, checksums);
  FlowSender sender(link, 256);
  const SentMessage message(0, 256);
  test::write_frame(theirs.get(), {FrameKind::kAnnounce, 0, 0, 0, 256});
  EXPECT_TRUE(sender.post(message.buffer(), 256).ok());
  EXPECT_TRUE(test::run_until([&] { return link.bytes_moved() >= 2 * kFrameHeaderBytes + 256; },
                              [&] { EXPECT_TRUE(sender.progress().ok()); }));
  return test::read_frame(theirs.get());
}

TEST(ChecksumAtSource, IsMadeUnlessTheSettingIsOff) {
  const ChunkOnWire chunk(256);
  EXPECT_EQ(sent_from_memory(true), chunk.frame);
  EXPECT_NE(chunk.frame.checksum, 0U);
  EXPECT_EQ(sent_from_memory(false).checksum, 0U);
}

// A relay between two peers that the test drives; its hops go over TCP, and its slots are pipes or memory.
class ChecksumAtRelay : public testing::Test {
 protected:
  void open(SlotKind slots, bool checksums = true) {
    ::signal(SIGPIPE, SIG_IGN);
    auto [source, up] = test::connected_pair();
    auto [down, destination] = test::connected_pair();
    source_ = std::move(source);
    destination_ = std::move(destination);
    upstream_ = std::make_unique<TcpChunkLink>(std::move(up), Place::kRelayUpstream, slots, checksums);
    downstream_ = std::make_unique<TcpChunkLink>(std::move(down), Place::kRelayDownstream, slots, checksums);
    std::unique_ptr<Slot> floor;
    if (slots == SlotKind::kRegistered) {
      floor = std::make_unique<RegisteredSlot>(memory_, std::span<const RdmaKeys>());
    } else {
      floor = *PipeSlot::create(1U << 18);
    }
    relay_ = std::make_unique<RelayCircuit>(*upstream_, *downstream_, std::move(floor), pool_,
                                            RelayNames{"node n1, towards n0", "node n1, towards n2"});
  }
  absl::Status progress() {
    // No poller runs here.
    upstream_->on_readable(false);
    downstream_->on_readable(false);
    return relay_->progress().status();
  }
  std::vector<std::byte> relayed(const std::vector<std::byte>& bytes) {
    test::write_all(source_.get(), bytes);
    const std::uint64_t wanted = downstream_->bytes_moved() + bytes.size();
    EXPECT_TRUE(
        test::run_until([&] { return downstream_->bytes_moved() >= wanted; }, [&] { ASSERT_TRUE(progress().ok()); }));
    return test::read_bytes(destination_.get(), bytes.size());
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(1U << 17);
  SlotPool pool_{{}, 0};
  UniqueFd source_;
  UniqueFd destination_;
  std::unique_ptr<TcpChunkLink> upstream_;
  std::unique_ptr<TcpChunkLink> downstream_;
  std::unique_ptr<RelayCircuit> relay_;
};

TEST_F(ChecksumAtRelay, PassesThroughPipesUncheckedAndUnchanged) {
  open(SlotKind::kUnregistered);
  for (const std::uint32_t bytes : {200U, 65536U}) {
    ChunkOnWire chunk(bytes);
    chunk.damage(8);
    EXPECT_EQ(relayed(chunk.bytes()), chunk.bytes());
  }
}

TEST_F(ChecksumAtRelay, PassesThroughMemoryUnchanged) {
  open(SlotKind::kRegistered);
  const ChunkOnWire chunk(65536);
  EXPECT_EQ(relayed(chunk.bytes()), chunk.bytes());
}

TEST_F(ChecksumAtRelay, IsCheckedWhereTheChunkLeavesTcpForMemory) {
  open(SlotKind::kRegistered);
  ChunkOnWire chunk(65536);
  chunk.damage(8);
  test::write_all(source_.get(), chunk.bytes());
  absl::Status status;
  EXPECT_TRUE(test::run_until([&] { return !status.ok(); }, [&] { status = progress(); }));
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  const Frame failed = test::read_frame(destination_.get());
  EXPECT_EQ(failed.kind, FrameKind::kFailed);
  EXPECT_THAT(test::read_text(destination_.get(), failed.payload),
              AllOf(HasSubstr("node n1, towards n0"), HasSubstr("chunk corrupted")));
}

TEST_F(ChecksumAtRelay, IsMadeWhereTheChunkGoesFromMemoryOntoTcp) {
  open(SlotKind::kRegistered);
  const ChunkOnWire chunk(4096);
  ChunkOnWire without(4096);
  without.frame.checksum = 0;  // as from a hop over RDMA
  EXPECT_EQ(relayed(without.bytes()), chunk.bytes());
}

TEST_F(ChecksumAtRelay, IsNeitherMadeNorCheckedWhereTheSettingIsOff) {
  open(SlotKind::kRegistered, false);
  ChunkOnWire damaged(4096);
  damaged.damage(8);
  EXPECT_EQ(relayed(damaged.bytes()), damaged.bytes());
  ChunkOnWire without(4096);
  without.frame.checksum = 0;
  EXPECT_EQ(relayed(without.bytes()), without.bytes());
}

TEST_F(ChecksumAtRelay, EndsTheCircuitOnADamagedHeader) {
  open(SlotKind::kUnregistered);
  std::vector<std::byte> all = ChunkOnWire(200).bytes();
  all[9] = std::byte{7};
  test::write_all(source_.get(), all);
  absl::Status status;
  EXPECT_TRUE(test::run_until([&] { return !status.ok(); }, [&] { status = progress(); }));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("node n1, towards n0"), HasSubstr("frame corrupted")));
  EXPECT_TRUE(absl::IsDataLoss(status));
}

}  // namespace
}  // namespace cableway::host
