#include "core/flow/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "core/flow/circuit_name.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string error_of(const FrameBytes& bytes) {
  const absl::StatusOr<Frame> frame = decode_frame(bytes);
  EXPECT_TRUE(absl::IsInvalidArgument(frame.status())) << frame.status();
  return std::string(frame.status().message());
}
std::string error_of(const Frame& frame) {
  return error_of(encode_frame(frame));
}

std::uint16_t sum_in(const FrameBytes& bytes) {
  return static_cast<std::uint16_t>(static_cast<unsigned>(bytes[2]) | static_cast<unsigned>(bytes[3]) << 8);
}

void expect_bytes(const Frame& frame, const std::array<int, kFrameHeaderBytes>& expected) {
  const FrameBytes bytes = encode_frame(frame);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(static_cast<int>(bytes[i]), expected[i]) << "byte " << i << " of a frame " << to_text(frame.kind);
  }
}

// With a sum that fits, so that other checks see it.
FrameBytes summed(FrameBytes bytes) {
  const std::uint16_t sum = header_sum(bytes);
  bytes[2] = static_cast<std::byte>(sum & 0xff);
  bytes[3] = static_cast<std::byte>(sum >> 8);
  return bytes;
}

TEST(Frame, HasTheDocumentedLayout) {
  expect_bytes(
      Frame{FrameKind::kChunk, 0x01020304, 0x1112131415161718, 0x818283 * kLineBytes, 0x2122232425, 0x51525354},
      {0xCB, 1,    0x92, 0x6E, 4,    3,    2,    1,    0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
       0x83, 0x82, 0x81, 0,    0x54, 0x53, 0x52, 0x51, 0x25, 0x24, 0x23, 0x22, 0x21, 0,    0,    0});
  expect_bytes(Frame{FrameKind::kSetupOk, 0x01020304, 0x11121314, 0x8182838485, 0x2122232425},
               {0xCB, 6,    0,    0,    4,    3, 2, 1, 0x14, 0x13, 0x12, 0x11, 0,    0, 0, 0,
                0x85, 0x84, 0x83, 0x82, 0x81, 0, 0, 0, 0x25, 0x24, 0x23, 0x22, 0x21, 0, 0, 0});
}

TEST(Frame, SurvivesARoundTrip) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const Frame frames[] = {
      {FrameKind::kChunk, 0, 0, 0, 0},
      {FrameKind::kChunk, 1, kMax, 0, 1},
      {FrameKind::kChunk, 128, 7, 128, 1000},
      {FrameKind::kChunk, 104, 7, 896, 1000},
      {FrameKind::kChunk, 0, 7, 1024, 1024},
      {FrameKind::kChunk, kMaxChunkBytes, 3, 0, kMaxMessageBytes},
      {FrameKind::kChunk, 128, 3, kMaxMessageBytes - 128, kMaxMessageBytes, 1},
      {FrameKind::kChunk, 128, 7, 128, 1000, std::numeric_limits<std::uint32_t>::max()},
      {FrameKind::kAnnounce, 0, kMax, 0, kMax},
      {FrameKind::kAck, 0, 12, 0, 34},
      {FrameKind::kFailed, kMaxFailureText, 0, 0, 0},
      {FrameKind::kFailed, 0, 0, 0, 0},
      {FrameKind::kFailed, 7, 0, 1, 0},
      {FrameKind::kSetup, kMaxSetupBytes, 0, 0, 0},
      {FrameKind::kSetupOk, 0, 0, 0, 0},
      {FrameKind::kSetupOk, kMaxSetupOkBytes, 0, 0, kMaxChunkBytes},
      {FrameKind::kProbe, 0, 0, 0, 1},
      {FrameKind::kProbe, kMaxProbeBytes, 0, 0, 1},
      {FrameKind::kProbe, 0, 0, 1, kMaxProbeMs},
      {FrameKind::kChallenge, 0, 0, ~std::uint64_t{0}, 1},
      {FrameKind::kSeal, 0, 0, 1, ~std::uint64_t{0}},
      {FrameKind::kLanded, 0, kMax, 0, 0},
      retire_frame({0, 1}),
      retire_frame({kMaxFlowCircuits - 1, std::numeric_limits<std::uint32_t>::max()}),
      retired_frame({7, 3}, kMax),
  };
  for (const Frame& frame : frames) {
    const absl::StatusOr<Frame> decoded = decode_frame(encode_frame(frame));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, frame);
  }
}

TEST(Frame, RefusesInvalidHeaders) {
  FrameBytes http{};
  http[0] = std::byte{'G'};
  EXPECT_THAT(error_of(http), AllOf(HasSubstr("not a Cableway frame"), HasSubstr("0x47"), HasSubstr("expected 0xcb")));

  for (const int kind : {0, 15, 255}) {
    FrameBytes bytes = encode_frame(Frame{FrameKind::kAck, 0, 1, 0, 2});
    bytes[1] = static_cast<std::byte>(kind);
    EXPECT_THAT(error_of(summed(bytes)), HasSubstr("unknown kind"));
  }
  for (const std::size_t reserved : {2, 3}) {
    FrameBytes bytes = encode_frame(Frame{FrameKind::kSetup, 0, 0, 0, 0});
    bytes[reserved] = std::byte{1};
    EXPECT_THAT(error_of(bytes), AllOf(HasSubstr("frame set-up"), HasSubstr("reserved bytes are not zero")));
  }
}

TEST(Frame, OfAnOpenCircuitHasASumOfItsHeader) {
  for (const Frame& frame : {Frame{FrameKind::kChunk, 128, 7, 128, 1000, 0xC0FFEE}, Frame{FrameKind::kAck, 0, 1, 0, 2},
                             Frame{FrameKind::kAnnounce, 0, 3, 0, 512}, Frame{FrameKind::kLanded, 0, 9, 0, 0},
                             retire_frame({1, 2}), retired_frame({1, 2}, 3), gate_frame(true),
                             gate_frame(false, ~std::uint64_t{0}), failed_frame(5, FailureScope::kCircuit)}) {
    const FrameBytes good = encode_frame(frame);
    EXPECT_EQ(sum_in(good), header_sum(good)) << to_text(frame.kind);
    // Exchanges words, which TCP's checksum does not detect, and changes single bits.
    for (std::size_t first = 2; first < kFrameHeaderBytes; first += 2) {
      FrameBytes exchanged = good;
      std::swap_ranges(&exchanged[first], &exchanged[first] + 2, &exchanged[(first + 6) % 30 + 2]);
      if (exchanged == good) continue;
      EXPECT_TRUE(absl::IsDataLoss(decode_frame(exchanged).status())) << to_text(frame.kind) << " " << first;
    }
    for (std::size_t bit = 16; bit < 8 * kFrameHeaderBytes; ++bit) {
      FrameBytes flipped = good;
      flipped[bit / 8] ^= std::byte{1} << bit % 8;
      EXPECT_TRUE(absl::IsDataLoss(decode_frame(flipped).status())) << to_text(frame.kind) << " " << bit;
    }
  }
}

TEST(Frame, NamesADamagedHeader) {
  FrameBytes bytes = encode_frame(Frame{FrameKind::kAck, 0, 1, 0, 2});
  bytes[8] = std::byte{3};
  EXPECT_THAT(std::string(decode_frame(bytes).status().message()),
              AllOf(HasSubstr("frame corrupted"), HasSubstr("cable changes data")));
}

TEST(Frame, OfASetUpHasNoSum) {
  for (const FrameKind kind :
       {FrameKind::kSetup, FrameKind::kSetupOk, FrameKind::kProbe, FrameKind::kChallenge, FrameKind::kSeal}) {
    EXPECT_EQ(sum_in(encode_frame(Frame{kind, 1, 0, 0, 128})), 0U) << to_text(kind);
  }
}

TEST(Frame, OverRdmaHasNoSum) {
  for (const Frame& frame : {Frame{FrameKind::kChunk, 128, 7, 128, 1000, 5}, Frame{FrameKind::kAck, 0, 7, 0, 9}}) {
    const FrameBytes bytes = encode_unsummed_frame(frame);
    EXPECT_EQ(sum_in(bytes), 0U);
    const absl::StatusOr<Frame> decoded = decode_unsummed_frame(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, frame);
    EXPECT_TRUE(absl::IsDataLoss(decode_frame(bytes).status())) << decode_frame(bytes).status();
    const absl::Status refused = decode_unsummed_frame(encode_frame(frame)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("reserved bytes are not zero"));
  }
}

TEST(Frame, RefusesAChunkThatIsTooLarge) {
  EXPECT_THAT(error_of(Frame{FrameKind::kChunk, kMaxChunkBytes + 128, 1, 0, 2 * kMaxChunkBytes}),
              AllOf(HasSubstr("chunk too large"), HasSubstr("4194432")));
}

TEST(Frame, RefusesAChunkThatReachesPastItsMessage) {
  EXPECT_THAT(error_of(Frame{FrameKind::kChunk, 129, 1, 128, 256}), HasSubstr("reaches past its message"));
  EXPECT_THAT(error_of(Frame{FrameKind::kChunk, 0, 1, 128, 127}), HasSubstr("reaches past its message"));
  constexpr std::uint64_t kLast = kMaxMessageBytes - kLineBytes;
  EXPECT_THAT(error_of(Frame{FrameKind::kChunk, 256, 1, kLast, 128}), HasSubstr("reaches past its message"));
  EXPECT_THAT(error_of(Frame{FrameKind::kChunk, 256, 1, kLast, kMaxMessageBytes}),
              HasSubstr("reaches past its message"));
}

TEST(Frame, RefusesAMessageThatIsTooLarge) {
  EXPECT_THAT(error_of(Frame{FrameKind::kChunk, 128, 1, 0, kMaxMessageBytes + 1}), HasSubstr("message too large"));
}

TEST(Frame, RefusesAChecksumOfNoBytes) {
  EXPECT_THAT(error_of(Frame{FrameKind::kChunk, 0, 1, 0, 0, 5}), HasSubstr("checksum of no bytes"));
}

TEST(Frame, RefusesAChunkThatSplitsALine) {
  EXPECT_THAT(error_of(Frame{FrameKind::kChunk, 100, 1, 0, 1000}), HasSubstr("must end on a multiple of 128"));
  EXPECT_THAT(error_of(Frame{FrameKind::kChunk, 0, 1, 128, 1000}), HasSubstr("must end on a multiple of 128"));
}

TEST(Frame, NamesACircuit) {
  EXPECT_EQ(circuit_of(retire_frame({5, 77})), (CircuitName{5, 77}));
  EXPECT_EQ(circuit_of(retired_frame({5, 77}, 9)), (CircuitName{5, 77}));
  EXPECT_EQ(retired_frame({5, 77}, 9).message, 9U);
}

TEST(Frame, RefusesInvalidCircuits) {
  for (const FrameKind kind : {FrameKind::kRetire, FrameKind::kRetired}) {
    EXPECT_THAT(error_of(Frame{kind, 0, 0, kMaxFlowCircuits, 1}), HasSubstr("no such slot"));
    EXPECT_THAT(error_of(Frame{kind, 0, 0, 0, 0}), HasSubstr("size 1 to 4294967295 expected"));
    EXPECT_THAT(error_of(Frame{kind, 0, 0, 0, std::uint64_t{1} << 32}), HasSubstr("size 1 to 4294967295 expected"));
    EXPECT_THAT(error_of(Frame{kind, 1, 0, 0, 1}), HasSubstr("no payload expected"));
  }
  EXPECT_THAT(error_of(Frame{FrameKind::kRetire, 0, 1, 0, 1}), HasSubstr("message 0 expected"));
  EXPECT_THAT(error_of(Frame{FrameKind::kGate, 0, 0, 2, 0}), HasSubstr("offset 0 or 1 expected"));
  for (const Frame& gate : {Frame{FrameKind::kGate, 1, 0, 1, 0}, Frame{FrameKind::kGate, 0, 1, 1, 0}}) {
    EXPECT_THAT(error_of(gate), HasSubstr("payload and message 0 expected"));
  }
  EXPECT_THAT(error_of(Frame{FrameKind::kLanded, 1, 1, 0, 0}), HasSubstr("payload, offset and size 0 expected"));
  EXPECT_THAT(error_of(Frame{FrameKind::kLanded, 0, 1, 1, 0}), HasSubstr("payload, offset and size 0 expected"));
  EXPECT_THAT(error_of(Frame{FrameKind::kLanded, 0, 1, 0, 1}), HasSubstr("payload, offset and size 0 expected"));
}

TEST(Frame, BoundsDocuments) {
  const Frame largest{FrameKind::kDocument, kMaxDocumentBytes, 0, 0, 0};
  EXPECT_EQ(decode_frame(encode_frame(largest)).value(), largest);
  EXPECT_THAT(error_of(Frame{FrameKind::kDocument, kMaxDocumentBytes + 1, 0, 0, 0}), HasSubstr("payload too long"));
  for (const Frame& other : {Frame{FrameKind::kDocument, 1, 1, 0, 0}, Frame{FrameKind::kDocument, 1, 0, 1, 0},
                             Frame{FrameKind::kDocument, 1, 0, 0, 1}}) {
    EXPECT_THAT(error_of(other), HasSubstr("message, offset and size 0 expected"));
  }
}

TEST(Frame, NamesTheScopeOfAFailure) {
  EXPECT_EQ(failed_frame(5, FailureScope::kCircuit), (Frame{FrameKind::kFailed, 5, 0, 0, 0}));
  EXPECT_EQ(failed_frame(5, FailureScope::kFlow), (Frame{FrameKind::kFailed, 5, 0, 1, 0}));
  EXPECT_EQ(failed_frame(5, FailureScope::kBusy), (Frame{FrameKind::kFailed, 5, 0, 2, 0}));
  for (const FailureScope scope : {FailureScope::kCircuit, FailureScope::kFlow, FailureScope::kBusy}) {
    EXPECT_EQ(scope_of(failed_frame(5, scope)), scope);
  }
}

TEST(Frame, RefusesAnUnknownScope) {
  for (const std::uint64_t scope : {std::uint64_t{3}, std::uint64_t{256}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    EXPECT_THAT(error_of(Frame{FrameKind::kFailed, 0, 0, scope, 0}),
                AllOf(HasSubstr("frame failed"), HasSubstr("offset 0 to 2 expected")));
  }
}

TEST(Frame, ARefusalHasItsCause) {
  EXPECT_EQ(failed_frame(5, FailureScope::kCircuit, RefusalCause::kSilence), (Frame{FrameKind::kFailed, 5, 0, 0, 1}));
  for (const RefusalCause cause : {RefusalCause::kOther, RefusalCause::kSilence, RefusalCause::kUnknownPurpose,
                                   RefusalCause::kOldRelay, RefusalCause::kOldEnd}) {
    const absl::StatusOr<Frame> read = decode_frame(encode_frame(failed_frame(5, FailureScope::kFlow, cause)));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(cause_of(*read), cause);
    EXPECT_EQ(scope_of(*read), FailureScope::kFlow);
  }
  for (const std::uint64_t cause : {std::uint64_t{5}, std::uint64_t{256}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    const absl::StatusOr<Frame> later = decode_frame(encode_frame(Frame{FrameKind::kFailed, 5, 0, 0, cause}));
    ASSERT_TRUE(later.ok()) << later.status() << ": a later version may have more causes";
    EXPECT_EQ(cause_of(*later), RefusalCause::kOther);
  }
}

TEST(Frame, RefusesFieldsThatItsKindDoesNotHave) {
  EXPECT_THAT(error_of(Frame{FrameKind::kAnnounce, 1, 0, 0, 5}),
              AllOf(HasSubstr("frame announce"), HasSubstr("no payload expected")));
  EXPECT_THAT(error_of(Frame{FrameKind::kAck, 0, 1, 128, 5}), AllOf(HasSubstr("frame ack"), HasSubstr("offset 0")));
  EXPECT_THAT(error_of(Frame{FrameKind::kFailed, kMaxFailureText + 1, 0, 0, 0}),
              AllOf(HasSubstr("frame failed"), HasSubstr("too long"), HasSubstr("513")));
  EXPECT_THAT(error_of(Frame{FrameKind::kSetup, kMaxSetupBytes + 1, 0, 0, 0}),
              AllOf(HasSubstr("frame set-up"), HasSubstr("too long")));
  EXPECT_THAT(error_of(Frame{FrameKind::kSetupOk, kMaxSetupOkBytes + 1, 0, 0, 0}),
              AllOf(HasSubstr("frame set-up-ok"), HasSubstr("too long")));
  EXPECT_THAT(error_of(Frame{FrameKind::kSetupOk, 0, 1, 0, 0}), HasSubstr("message and offset 0 expected"));
  EXPECT_THAT(error_of(Frame{FrameKind::kSetupOk, 0, 0, 128, 0}), HasSubstr("message and offset 0 expected"));
  for (const std::uint64_t size : {std::uint64_t{127}, std::uint64_t{kMaxChunkBytes} + 128, ~std::uint64_t{0}}) {
    EXPECT_THAT(error_of(Frame{FrameKind::kSetupOk, 0, 0, 0, size}), HasSubstr("size of a chunk expected"));
  }
  EXPECT_THAT(error_of(Frame{FrameKind::kSetup, 0, 1, 0, 0}), HasSubstr("message, offset and size 0 expected"));
  EXPECT_THAT(error_of(Frame{FrameKind::kSetup, 0, 0, 1, 0}), HasSubstr("message, offset and size 0 expected"));
  EXPECT_THAT(error_of(Frame{FrameKind::kSetup, 0, 0, 0, 1}), HasSubstr("message, offset and size 0 expected"));
  EXPECT_THAT(error_of(Frame{FrameKind::kFailed, 0, 1, 0, 0}), HasSubstr("message 0 expected"));
  EXPECT_THAT(error_of(Frame{FrameKind::kProbe, kMaxProbeBytes + 1, 0, 0, 1}), HasSubstr("payload too long"));
  EXPECT_THAT(error_of(Frame{FrameKind::kProbe, 0, 1, 0, 1}), HasSubstr("message 0 expected"));
  for (const FrameKind kind : {FrameKind::kChallenge, FrameKind::kSeal}) {
    EXPECT_THAT(error_of(Frame{kind, 16, 0, 1, 1}), HasSubstr("payload and message 0 expected"));
    EXPECT_THAT(error_of(Frame{kind, 0, 1, 1, 1}), HasSubstr("payload and message 0 expected"));
  }
  EXPECT_THAT(error_of(Frame{FrameKind::kProbe, 0, 0, 2, 1}), HasSubstr("offset 0 or 1 expected"));
  EXPECT_THAT(error_of(Frame{FrameKind::kProbe, 0, 0, 0, 0}), HasSubstr("size 1 to 2000 expected"));
  EXPECT_THAT(error_of(Frame{FrameKind::kProbe, 0, 0, 0, kMaxProbeMs + 1}), HasSubstr("size 1 to 2000 expected"));
}

}  // namespace
}  // namespace cableway
