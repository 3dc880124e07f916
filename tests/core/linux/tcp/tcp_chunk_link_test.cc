// One end of a hop against a peer that the test drives byte by byte.
#include "core/linux/tcp/tcp_chunk_link.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/flow/chunk_checksum.h"
#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "core/linux/tcp/pipe_slot.h"
#include "core/relay/relay_circuit.h"
#include "tests/core/flow/message_buffers.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host {
namespace {

using cableway::test::message_byte;
using cableway::test::ReceivedMessage;
using cableway::test::SentMessage;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<std::byte> message_bytes(std::uint64_t message, std::size_t begin, std::size_t end) {
  std::vector<std::byte> bytes;
  for (std::size_t i = begin; i < end; ++i) bytes.push_back(message_byte(message, i));
  return bytes;
}

void append(std::vector<std::byte>& to, const Frame& frame, const std::vector<std::byte>& payload = {}) {
  const FrameBytes header = encode_frame(frame);
  to.insert(to.end(), header.begin(), header.end());
  to.insert(to.end(), payload.begin(), payload.end());
}

void append_summed(std::vector<std::byte>& to, const Frame& chunk, const std::vector<std::byte>& payload) {
  append(to, with_checksum(chunk, payload.data()), payload);
}

class LinkAgainstPeer : public testing::Test {
 protected:
  explicit LinkAgainstPeer(TcpChunkLink::Place place = TcpChunkLink::Place::kFlowEnd, int buffer_bytes = 0) {
    ::signal(SIGPIPE, SIG_IGN);
    auto [ours, theirs] = test::connected_pair(buffer_bytes);
    link_ = std::make_unique<TcpChunkLink>(std::move(ours), place);
    peer_ = std::move(theirs);
  }

  std::unique_ptr<TcpChunkLink> link_;
  UniqueFd peer_;
};

class ReceiverAgainstPeer : public LinkAgainstPeer {
 protected:
  // Runs until the flow fails or message 0 is complete.
  absl::Status run() {
    absl::Status status;
    EXPECT_TRUE(
        test::run_until([&] { return !status.ok() || receiver_.done(0); }, [&] { status = receiver_.progress(); }));
    return status;
  }
  std::string error() {
    const absl::Status status = run();
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }
  void post() {
    ASSERT_TRUE(receiver_.post(landing_.landing()).ok());
    EXPECT_EQ(test::read_frame(peer_.get()), (Frame{FrameKind::kAnnounce, 0, 0, 0, landing_.capacity()}));
  }

  // How much of message 0, of `size` bytes, has been written; the rest of its landing must be unchanged.
  std::size_t placed_bytes(std::size_t size) {
    for (std::size_t placed = 0; placed <= size; ++placed) {
      if (landing_.holds(0, placed)) return placed;
    }
    ADD_FAILURE() << "something else was written";
    return 0;
  }

  FlowReceiver receiver_{*link_};
  ReceivedMessage landing_{1000};
};

TEST_F(ReceiverAgainstPeer, AcceptsFramesSplitAtEveryByte) {
  post();
  std::vector<std::byte> stream;
  append(stream, {FrameKind::kChunk, 256, 0, 0, 600}, message_bytes(0, 0, 256));
  append(stream, {FrameKind::kChunk, 128, 0, 256, 600}, message_bytes(0, 256, 384));
  append(stream, {FrameKind::kChunk, 216, 0, 384, 600}, message_bytes(0, 384, 600));
  for (const std::byte& byte : stream) {
    ASSERT_FALSE(receiver_.done(0));
    test::write_all(peer_.get(), std::span(&byte, 1));
    const std::uint64_t before = link_->bytes_moved();
    ASSERT_TRUE(test::run_until([&] { return link_->bytes_moved() > before; },
                                [&] { ASSERT_TRUE(receiver_.progress().ok()); }));
    // Whole lines only: a reader of flags in the data must not see half a word.
    const std::size_t placed = placed_bytes(600);
    ASSERT_TRUE(placed % kLineBytes == 0 || placed == 600) << placed << " bytes are placed";
  }
  ASSERT_TRUE(receiver_.done(0));
  EXPECT_TRUE(landing_.holds(0, 600));
  EXPECT_EQ(test::read_frame(peer_.get()), (Frame{FrameKind::kAck, 0, 0, 0, 600}));
}

TEST_F(ReceiverAgainstPeer, AcceptsTheSameStreamAtOnce) {
  post();
  std::vector<std::byte> stream;
  append(stream, {FrameKind::kChunk, 512, 0, 0, 600}, message_bytes(0, 0, 512));
  append(stream, {FrameKind::kChunk, 88, 0, 512, 600}, message_bytes(0, 512, 600));
  test::write_all(peer_.get(), stream);
  EXPECT_TRUE(run().ok());
  EXPECT_TRUE(landing_.holds(0, 600));
}

TEST_F(ReceiverAgainstPeer, FailsWhenThePeerClosesWithinAChunk) {
  post();
  test::write_frame(peer_.get(), {FrameKind::kChunk, 512, 0, 0, 512}, message_bytes(0, 0, 300));
  peer_.reset();
  EXPECT_THAT(error(), HasSubstr("the peer closed the connection"));
  EXPECT_FALSE(receiver_.done(0));
}

TEST_F(ReceiverAgainstPeer, ReportsThePeersReasonOfAFailure) {
  const std::string reason = "node n7: the cable to n8 is cut";
  test::write_failure(peer_.get(), reason);
  EXPECT_EQ(error(), reason);
}

TEST_F(ReceiverAgainstPeer, RefusesGarbage) {
  test::write_all(peer_.get(), std::string("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_THAT(error(), AllOf(HasSubstr("not a Cableway frame"), HasSubstr("0x47")));
}

TEST_F(ReceiverAgainstPeer, RefusesASecondSetup) {
  test::write_frame(peer_.get(), {FrameKind::kSetup, 0, 0, 0, 0});
  EXPECT_THAT(error(), HasSubstr("frame set-up on a circuit that is already set up"));
}

TEST_F(ReceiverAgainstPeer, RefusesDataThatWasNotAnnounced) {
  test::write_frame(peer_.get(), {FrameKind::kChunk, 128, 0, 0, 128}, message_bytes(0, 0, 128));
  EXPECT_THAT(error(), AllOf(HasSubstr("message 0"), HasSubstr("has not been announced")));
}

TEST_F(ReceiverAgainstPeer, RefusesAMessageLargerThanItsReceive) {
  post();
  test::write_frame(peer_.get(), {FrameKind::kChunk, 512, 0, 0, 1001}, message_bytes(0, 0, 512));
  EXPECT_THAT(error(), AllOf(HasSubstr("1001 bytes"), HasSubstr("receive of 1000")));
  EXPECT_TRUE(landing_.holds(0, 0));
}

TEST_F(ReceiverAgainstPeer, WritesNothingAfterAFence) {
  post();
  test::write_frame(peer_.get(), {FrameKind::kChunk, 256, 0, 0, 600}, message_bytes(0, 0, 256));
  ASSERT_TRUE(test::run_until([&] { return link_->bytes_moved() >= 2 * kFrameHeaderBytes + 256; },
                              [&] { ASSERT_TRUE(receiver_.progress().ok()); }));
  link_->fence();
  landing_.reuse();
  test::write_frame(peer_.get(), {FrameKind::kChunk, 344, 0, 256, 600}, message_bytes(0, 256, 600));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(absl::IsFailedPrecondition(receiver_.progress()));
  EXPECT_TRUE(landing_.still_reused());
  EXPECT_TRUE(test::reads_end(peer_.get()));
}

class SenderAgainstPeer : public LinkAgainstPeer {
 protected:
  absl::Status run_until_failure() {
    absl::Status status;
    EXPECT_TRUE(test::run_until([&] { return !status.ok(); }, [&] { status = sender_.progress(); }));
    return status;
  }
  void announce(std::uint64_t message, std::uint64_t capacity) {
    test::write_frame(peer_.get(), {FrameKind::kAnnounce, 0, message, 0, capacity});
  }

  FlowSender sender_{*link_, 256};
  SentMessage message_{0, 300};
};

TEST_F(SenderAgainstPeer, EncodesFramesAsDocumented) {
  announce(0, 300);
  ASSERT_TRUE(sender_.post(message_.buffer(), 300).ok());
  ASSERT_TRUE(test::run_until([&] { return link_->bytes_moved() >= 3 * kFrameHeaderBytes + 300; },
                              [&] { ASSERT_TRUE(sender_.progress().ok()); }));
  std::vector<std::byte> expected;
  append_summed(expected, {FrameKind::kChunk, 256, 0, 0, 300}, message_bytes(0, 0, 256));
  append_summed(expected, {FrameKind::kChunk, 44, 0, 256, 300}, message_bytes(0, 256, 300));
  EXPECT_EQ(test::read_bytes(peer_.get(), expected.size()), expected);
  EXPECT_FALSE(sender_.done(0));
  test::write_frame(peer_.get(), {FrameKind::kAck, 0, 0, 0, 300});
  ASSERT_TRUE(test::run_until([&] { return sender_.done(0); }, [&] { ASSERT_TRUE(sender_.progress().ok()); }));
}

TEST_F(SenderAgainstPeer, KeepsAcknowledgementsBeforeTheEnd) {
  announce(0, 300);
  ASSERT_TRUE(sender_.post(message_.buffer(), 300).ok());
  ASSERT_TRUE(test::run_until([&] { return link_->bytes_moved() >= 3 * kFrameHeaderBytes + 300; },
                              [&] { ASSERT_TRUE(sender_.progress().ok()); }));
  // Acknowledgement, reason and end of the connection in one read.
  std::vector<std::byte> stream;
  append(stream, {FrameKind::kAck, 0, 0, 0, 300});
  append(stream, {FrameKind::kFailed, 3, 0, 0, 0}, {std::byte{'b'}, std::byte{'y'}, std::byte{'e'}});
  test::write_all(peer_.get(), stream);
  peer_.reset();
  EXPECT_EQ(run_until_failure().message(), "bye");
  EXPECT_TRUE(sender_.done(0));
}

TEST_F(SenderAgainstPeer, FailsWhenThePeerIsGone) {
  announce(0, 300);
  peer_.reset();
  EXPECT_TRUE(absl::IsCancelled(run_until_failure()));
}

TEST_F(SenderAgainstPeer, ReportsTheReasonOfAPeerThatClosedDuringAWrite) {
  announce(0, 300);
  announce(1, 300);
  ASSERT_TRUE(test::run_until([&] { return link_->bytes_moved() == 2 * kFrameHeaderBytes; },
                              [&] { ASSERT_TRUE(sender_.progress().ok()); }));
  const std::string reason = "node n7 died";
  test::write_failure(peer_.get(), reason);
  const linger at_once{1, 0};
  ASSERT_EQ(::setsockopt(peer_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  peer_.reset();  // a reset: the next write fails, and nothing has been read yet
  const absl::Status status = sender_.post(message_.buffer(), 300).status();
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_EQ(status.message(), reason);
}

TEST_F(SenderAgainstPeer, SendsItsReasonAfterQueuedFrames) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(link_->send_control(Frame{FrameKind::kAck, 0, i, 0, 10}).ok());
  }
  link_->fail("a reason", FailureScope::kCircuit);
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(test::read_frame(peer_.get()), (Frame{FrameKind::kAck, 0, i, 0, 10}));
  }
  EXPECT_EQ(test::read_frame(peer_.get()), (Frame{FrameKind::kFailed, 8, 0, 0, 0}));
  EXPECT_EQ(test::read_text(peer_.get(), 8), "a reason");
  EXPECT_TRUE(test::reads_end(peer_.get()));
}

class IgnoringSink final : public ChunkLink::Sink {
 public:
  absl::Status on_landed(const Frame&) override { return absl::OkStatus(); }
  absl::Status on_chunk(const Frame&, Slot&) override { return absl::OkStatus(); }
  absl::Status on_control(const Frame&) override { return absl::OkStatus(); }
  void on_sent(Slot*) override { ++sent; }
  int sent = 0;
};

TEST_F(SenderAgainstPeer, FinishesAFrameBeforeItBeginsAnother) {
  // More than the kernel accepts at once while the peer does not read: the second frame is queued in the middle of it.
  const SentMessage large(0, kMaxChunkBytes);
  const Frame chunk{FrameKind::kChunk, kMaxChunkBytes, 0, 0, kMaxChunkBytes};
  const Frame control{FrameKind::kAck, 0, 1, 0, 2};
  IgnoringSink sink;
  int chunks = 0;
  while (link_->can_send()) {
    link_->send(chunk, large.buffer());
    ++chunks;
    ASSERT_TRUE(link_->flush(sink).ok());
  }
  ASSERT_TRUE(link_->send_control(control).ok());
  std::thread reading([&] {
    for (int i = 0; i < chunks; ++i) {
      EXPECT_EQ(test::read_frame(peer_.get()), with_checksum(chunk, large.bytes().data()));
      EXPECT_EQ(test::read_bytes(peer_.get(), kMaxChunkBytes), message_bytes(0, 0, kMaxChunkBytes));
    }
    EXPECT_EQ(test::read_frame(peer_.get()), control);
  });
  const std::uint64_t all =
      static_cast<std::uint64_t>(chunks) * (kFrameHeaderBytes + kMaxChunkBytes) + kFrameHeaderBytes;
  EXPECT_TRUE(
      test::run_until([&] { return link_->bytes_moved() == all; }, [&] { ASSERT_TRUE(link_->flush(sink).ok()); }));
  reading.join();
  EXPECT_EQ(sink.sent, chunks);
}

TEST_F(SenderAgainstPeer, TruncatesALongReason) {
  link_->fail(std::string(5000, 'r'), FailureScope::kCircuit);
  EXPECT_EQ(test::read_frame(peer_.get()).payload, kMaxFailureText);
  EXPECT_EQ(test::read_text(peer_.get(), kMaxFailureText), std::string(kMaxFailureText, 'r'));
  EXPECT_TRUE(test::reads_end(peer_.get()));
}

TEST_F(SenderAgainstPeer, SendsNoReasonInTheMiddleOfAChunk) {
  // More than the kernel accepts at once while the peer does not read: half a chunk has been sent.
  const SentMessage large(0, 200U << 20 >> 4);
  FlowSender sender(*link_, kMaxChunkBytes);
  announce(0, large.size());
  ASSERT_TRUE(sender.post(large.buffer(), large.size()).ok());
  std::uint64_t moved = 0;
  ASSERT_TRUE(test::run_until(
      [&] { return link_->bytes_moved() > kFrameHeaderBytes && std::exchange(moved, link_->bytes_moved()) == moved; },
      [&] { ASSERT_TRUE(sender.progress().ok()); }));
  ASSERT_LT(link_->bytes_moved(), large.size()) << "the kernel accepted all of it";
  link_->fail("must not be read as payload", FailureScope::kCircuit);
  // The bytes sent are a prefix of the message, and nothing else.
  std::uint64_t offset = 0;
  while (true) {
    const std::vector<std::byte> header = test::read_bytes(peer_.get(), kFrameHeaderBytes);
    if (header.size() < kFrameHeaderBytes) break;
    const Frame frame = *decode_frame(std::span<const std::byte, kFrameHeaderBytes>(header.data(), kFrameHeaderBytes));
    ASSERT_EQ(frame.kind, FrameKind::kChunk);
    const std::vector<std::byte> payload = test::read_bytes(peer_.get(), frame.payload);
    ASSERT_EQ(payload, message_bytes(0, offset, offset + payload.size()));
    offset += payload.size();
  }
  EXPECT_LT(offset, large.size());
}

TEST(TcpChunkLink, MakesItsSocketNonBlocking) {
  auto [ours, theirs] = test::connected_pair();
  const TcpChunkLink link(std::move(ours), TcpChunkLink::Place::kRelayUpstream);
  EXPECT_NE(::fcntl(link.socket(), F_GETFL) & O_NONBLOCK, 0);
}

// A relay between two peers that the test drives.
class RelayBetweenPeers : public testing::Test {
 protected:
  RelayBetweenPeers() {
    ::signal(SIGPIPE, SIG_IGN);
    auto [source, up] = test::connected_pair();
    auto [down, destination] = test::connected_pair();
    source_ = std::move(source);
    destination_ = std::move(destination);
    upstream_ = std::make_unique<TcpChunkLink>(std::move(up), TcpChunkLink::Place::kRelayUpstream);
    downstream_ = std::make_unique<TcpChunkLink>(std::move(down), TcpChunkLink::Place::kRelayDownstream);
    relay_ = std::make_unique<RelayCircuit>(*upstream_, *downstream_, *PipeSlot::create(1U << 18), pool_,
                                            RelayNames{"node n1, towards n0", "node n1, towards n2"});
  }
  absl::StatusOr<bool> progress() {
    // No poller runs here.
    upstream_->on_readable(false);
    downstream_->on_readable(false);
    return relay_->progress();
  }
  std::string error() {
    absl::Status status;
    EXPECT_TRUE(test::run_until([&] { return !status.ok(); }, [&] { status = progress().status(); }));
    return std::string(status.message());
  }
  // Runs the relay until `bytes` have arrived downstream.
  std::vector<std::byte> relayed(std::size_t bytes) {
    EXPECT_TRUE(
        test::run_until([&] { return downstream_->bytes_moved() >= bytes; }, [&] { ASSERT_TRUE(progress().ok()); }));
    return test::read_bytes(destination_.get(), bytes);
  }
  static std::string reason_at(int socket) {
    const Frame frame = test::read_frame(socket);
    EXPECT_EQ(frame.kind, FrameKind::kFailed);
    return test::read_text(socket, frame.payload);
  }

  SlotPool pool_{*make_pipe_slots(1, 1U << 18), 1};
  UniqueFd source_;
  UniqueFd destination_;
  std::unique_ptr<TcpChunkLink> upstream_;
  std::unique_ptr<TcpChunkLink> downstream_;
  std::unique_ptr<RelayCircuit> relay_;
};

TEST_F(RelayBetweenPeers, RelaysFramesSplitAtEveryByte) {
  // One chunk that is copied, one that is spliced, one that is empty.
  constexpr std::size_t kSpliced = PipeSlot::kHeadBytes + 128;
  std::vector<std::byte> stream;
  append(stream, {FrameKind::kChunk, 200, 0, 0, 200}, message_bytes(0, 0, 200));
  append(stream, {FrameKind::kChunk, kSpliced, 1, 0, kSpliced}, message_bytes(1, 0, kSpliced));
  append(stream, {FrameKind::kChunk, 0, 2, 0, 0});
  for (const std::byte& byte : stream) {
    test::write_all(source_.get(), std::span(&byte, 1));
    const std::uint64_t before = upstream_->bytes_moved();
    ASSERT_TRUE(
        test::run_until([&] { return upstream_->bytes_moved() > before; }, [&] { ASSERT_TRUE(progress().ok()); }));
  }
  EXPECT_EQ(relayed(stream.size()), stream);
  EXPECT_EQ(relay_->slots_in_use(), 0U);
  EXPECT_EQ(relay_->chunks_relayed(), 3U);
  EXPECT_EQ(relay_->bytes_relayed(), 200 + kSpliced);
}

TEST_F(RelayBetweenPeers, SendsTheHeadOfAChunkBeforeItsTailArrives) {
  const std::vector<std::byte> payload = message_bytes(0, 0, 65536);
  std::vector<std::byte> head;
  append(head, {FrameKind::kChunk, 131072, 0, 0, 131072}, payload);
  test::write_all(source_.get(), head);
  EXPECT_EQ(relayed(head.size()), head);
  EXPECT_EQ(relay_->slots_in_use(), 1U);
}

TEST_F(RelayBetweenPeers, EndsBothSidesOnGarbageFromUpstream) {
  test::write_all(source_.get(), std::string(64, 'x'));
  EXPECT_THAT(error(), AllOf(HasSubstr("node n1, towards n0"), HasSubstr("not a Cableway frame")));
  EXPECT_THAT(reason_at(source_.get()), HasSubstr("not a Cableway frame"));
  EXPECT_THAT(reason_at(destination_.get()), HasSubstr("towards n0"));
}

TEST_F(RelayBetweenPeers, EndsBothSidesOnGarbageFromDownstream) {
  test::write_all(destination_.get(), std::string(64, 'x'));
  EXPECT_THAT(error(), AllOf(HasSubstr("towards n2"), HasSubstr("not a Cableway frame")));
  EXPECT_THAT(reason_at(source_.get()), HasSubstr("towards n2"));
  EXPECT_THAT(reason_at(destination_.get()), HasSubstr("not a Cableway frame"));
}

TEST_F(RelayBetweenPeers, EndsWhenDataComesFromDownstream) {
  test::write_frame(destination_.get(), {FrameKind::kChunk, 128, 0, 0, 128}, message_bytes(0, 0, 128));
  EXPECT_THAT(error(), AllOf(HasSubstr("towards n2"), HasSubstr("against the circuit's direction")));
  EXPECT_THAT(reason_at(source_.get()), HasSubstr("against the circuit's direction"));
}

TEST_F(RelayBetweenPeers, RelaysTheDestinationsLastFrames) {
  test::write_frame(destination_.get(), {FrameKind::kAck, 0, 0, 0, 5});
  destination_.reset();
  EXPECT_THAT(error(), HasSubstr("the peer closed the connection"));
  EXPECT_EQ(test::read_frame(source_.get()), (Frame{FrameKind::kAck, 0, 0, 0, 5}));
  EXPECT_THAT(reason_at(source_.get()), HasSubstr("towards n2"));
}

TEST_F(RelayBetweenPeers, RelaysAFailureWithItsReason) {
  test::write_failure(source_.get(), "out of memory");
  EXPECT_THAT(error(), HasSubstr("out of memory"));
  EXPECT_THAT(reason_at(destination_.get()), HasSubstr("out of memory"));
}

TEST_F(RelayBetweenPeers, ClosesDownstreamWhenUpstreamDiesWithinAChunk) {
  test::write_frame(source_.get(), {FrameKind::kChunk, 65536, 0, 0, 65536}, message_bytes(0, 0, 10000));
  source_.reset();
  EXPECT_THAT(error(), HasSubstr("towards n0: the peer closed the connection"));
  // The chunk has begun downstream; nothing may follow that would be read as payload.
  const std::vector<std::byte> out = test::read_bytes(destination_.get(), 1U << 20);
  EXPECT_LE(out.size(), kFrameHeaderBytes + 10000);
}

TEST_F(RelayBetweenPeers, LimitsAnnouncementsThatItCannotRelay) {
  // The source does not read, so its direction fills up; then the relay's limit is reached, and its memory does not
  // grow.
  std::vector<std::byte> flood;
  for (std::uint64_t i = 0; i < 1000; ++i) append(flood, {FrameKind::kAnnounce, 0, i, 0, 1});
  absl::Status status;
  std::uint64_t written = 0;
  const auto step = [&] {
    const auto rest = std::span(flood).subspan(written % flood.size());
    const ssize_t part = ::send(destination_.get(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (part > 0) written += static_cast<std::uint64_t>(part);
    status = progress().status();
  };
  const bool ended = test::run_until([&] { return !status.ok(); }, step);
  ASSERT_TRUE(ended) << written << " bytes of announcements were accepted";
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
}

}  // namespace
}  // namespace cableway::host
