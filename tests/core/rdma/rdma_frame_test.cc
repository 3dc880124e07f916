#include "core/rdma/rdma_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

#include "absl/status/status.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kMax32 = std::numeric_limits<std::uint32_t>::max();

std::string rdma_error_of(const RdmaFrameBytes& bytes) {
  const absl::StatusOr<RdmaFrame> frame = decode_rdma_frame(bytes);
  EXPECT_TRUE(absl::IsInvalidArgument(frame.status())) << frame.status();
  return std::string(frame.status().message());
}
std::string rdma_error_of(const RdmaFrame& frame) {
  return rdma_error_of(encode_rdma_frame(frame));
}

TEST(RdmaFrame, HasTheDocumentedLayout) {
  const Frame chunk{FrameKind::kChunk, 0x80, 0x11, 0x100, 0x2122};
  const RdmaFrameBytes bytes =
      encode_rdma_frame(RdmaFrame{RdmaFrame::What::kFrame, chunk, 0x3132333435363738, 0x41424344, 0x51525354});
  const FrameBytes head = encode_unsummed_frame(chunk);
  for (std::size_t i = 0; i < head.size(); ++i) EXPECT_EQ(bytes[i], head[i]) << "byte " << i;
  const std::array<int, 16> tail = {0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31,
                                    0x44, 0x43, 0x42, 0x41, 0x54, 0x53, 0x52, 0x51};
  for (std::size_t i = 0; i < tail.size(); ++i) {
    EXPECT_EQ(static_cast<int>(bytes[kFrameHeaderBytes + i]), tail[i]) << "byte " << kFrameHeaderBytes + i;
  }
}

TEST(RdmaFrame, HasTheDocumentedLayoutWithoutAFrame) {
  const RdmaFrameBytes bytes = encode_rdma_frame(RdmaFrame{RdmaFrame::What::kRecall, {}, 0x80, 0, 1});
  EXPECT_EQ(static_cast<int>(bytes[0]), kFrameMagic);
  EXPECT_EQ(static_cast<int>(bytes[1]), 0x82);
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    EXPECT_EQ(static_cast<int>(bytes[i]), i == 32 ? 0x80 : (i == 44 ? 1 : 0)) << "byte " << i;
  }
}

TEST(RdmaFrame, SurvivesARoundTrip) {
  const RdmaFrame frames[] = {
      {RdmaFrame::What::kFrame, {FrameKind::kChunk, 128, 7, 128, 1000}, 0, 0, 0},
      {RdmaFrame::What::kFrame, {FrameKind::kChunk, 0, 7, 0, 0}, kMax64, kMax32, kMax32},
      {RdmaFrame::What::kFrame, {FrameKind::kAnnounce, 0, kMax64, 0, kMax64}, kMax64, kMax32, kMax32},
      {RdmaFrame::What::kFrame, {FrameKind::kAnnounce, 0, 0, 0, 0}, 0, 0, 0},
      {RdmaFrame::What::kFrame, {FrameKind::kAck, 0, 12, 0, 34}, 0, 0, 5},
      {RdmaFrame::What::kSlot, {}, 1, kMax32, kMax32},
      {RdmaFrame::What::kSlot, {}, kMax64, 0, 0},
      {RdmaFrame::What::kRecall, {}, 1, 0, 7},
      {RdmaFrame::What::kReturn, {}, kMax64, 0, 8},
      {RdmaFrame::What::kTaken, {}, 0, 0, kMax32},
  };
  for (const RdmaFrame& frame : frames) {
    const absl::StatusOr<RdmaFrame> decoded = decode_rdma_frame(encode_rdma_frame(frame));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, frame);
  }
}

TEST(RdmaFrame, RefusesInvalidKinds) {
  EXPECT_THAT(rdma_error_of(RdmaFrameBytes{}), HasSubstr("not a Cableway frame"));
  for (const int kind : {0, 0x7f, 0x80, 0x85, 0xff}) {
    RdmaFrameBytes bytes = encode_rdma_frame(RdmaFrame{RdmaFrame::What::kTaken, {}, 0, 0, 1});
    bytes[1] = static_cast<std::byte>(kind);
    EXPECT_THAT(rdma_error_of(bytes), HasSubstr("unknown kind")) << kind;
  }
}

TEST(RdmaFrame, RefusesNonzeroReservedBytes) {
  for (const RdmaFrame::What what :
       {RdmaFrame::What::kSlot, RdmaFrame::What::kRecall, RdmaFrame::What::kReturn, RdmaFrame::What::kTaken}) {
    for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) {
      if (i == 1) continue;
      RdmaFrameBytes bytes = encode_rdma_frame(RdmaFrame{what, {}, what == RdmaFrame::What::kTaken ? 0U : 64U, 0, 1});
      ASSERT_TRUE(decode_rdma_frame(bytes).ok());
      bytes[i] ^= std::byte{1};
      EXPECT_THAT(rdma_error_of(bytes), HasSubstr("not the expected magic and zeros")) << "byte " << i;
    }
  }
}

TEST(RdmaFrame, RefusesFieldsThatItsKindDoesNotHave) {
  for (const RdmaFrame::What what : {RdmaFrame::What::kSlot, RdmaFrame::What::kRecall, RdmaFrame::What::kReturn}) {
    EXPECT_THAT(rdma_error_of(RdmaFrame{what, {}, 0, 0, 0}),
                AllOf(HasSubstr("hop frame of kind"), HasSubstr("address 0")));
  }
  for (const RdmaFrame::What what : {RdmaFrame::What::kRecall, RdmaFrame::What::kReturn}) {
    EXPECT_THAT(rdma_error_of(RdmaFrame{what, {}, 64, 5, 0}), HasSubstr("key 5"));
  }
  EXPECT_THAT(rdma_error_of(RdmaFrame{RdmaFrame::What::kTaken, {}, 64, 0, 0}), HasSubstr("address 64"));
  EXPECT_THAT(rdma_error_of(RdmaFrame{RdmaFrame::What::kTaken, {}, 0, 5, 0}), HasSubstr("key 5"));
  const Frame acknowledgement{FrameKind::kAck, 0, 1, 0, 2};
  EXPECT_THAT(rdma_error_of(RdmaFrame{RdmaFrame::What::kFrame, acknowledgement, 64, 0, 0}), HasSubstr("address 64"));
  EXPECT_THAT(rdma_error_of(RdmaFrame{RdmaFrame::What::kFrame, acknowledgement, 0, 5, 0}), HasSubstr("key 5"));
}

TEST(RdmaFrame, RefusesAFrameThatIsMalformed) {
  EXPECT_THAT(rdma_error_of(RdmaFrame{RdmaFrame::What::kFrame, {FrameKind::kChunk, 129, 1, 128, 256}, 64, 0, 0}),
              HasSubstr("reaches past its message"));
  EXPECT_THAT(rdma_error_of(RdmaFrame{RdmaFrame::What::kFrame, {FrameKind::kAnnounce, 1, 0, 0, 5}, 64, 0, 0}),
              HasSubstr("no payload expected"));
}

TEST(RdmaFrame, RefusesFramesNotAllowedInAMailbox) {
  const Frame frames[] = {
      {FrameKind::kFailed, 0, 0, 0, 0}, {FrameKind::kSetup, 10, 0, 0, 0},    {FrameKind::kSetupOk, 0, 0, 0, 0},
      {FrameKind::kProbe, 0, 0, 0, 1},  {FrameKind::kChallenge, 0, 0, 1, 1}, {FrameKind::kSeal, 0, 0, 1, 1},
  };
  for (const Frame& frame : frames) {
    EXPECT_THAT(rdma_error_of(RdmaFrame{RdmaFrame::What::kFrame, frame, 0, 0, 0}),
                AllOf(HasSubstr(to_text(frame.kind)), HasSubstr("into a mailbox")));
  }
}

}  // namespace
}  // namespace cableway
