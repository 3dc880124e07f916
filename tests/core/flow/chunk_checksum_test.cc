#include "core/flow/chunk_checksum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/flow/crc32c.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::vector<std::byte> varied_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  return bytes;
}

// By the definition, bit by bit: reflected polynomial 0x82F63B78, all ones before and after.
std::uint32_t naive_crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0U;
  for (const std::byte byte : bytes) {
    crc ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

Frame chunk_of(std::size_t bytes) {
  return Frame{FrameKind::kChunk, static_cast<std::uint32_t>(bytes), 3, 0, bytes};
}

// The examples of RFC 3720, appendix B.4, and the usual check value.
TEST(Crc32c, GivesThePublishedValues) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0})), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xff})), 0x62A8AB43U);
}

TEST(Crc32c, IsThatOfTheDefinitionAtEveryLengthAndAlignment) {
  const std::vector<std::byte> bytes = varied_bytes(4096 + 64);
  for (const std::size_t length : {0, 1, 7, 8, 28, 63, 127, 128, 129, 1000, 4095, 4096}) {
    for (const std::size_t from : {0, 1, 3, 8, 63}) {
      const auto part = std::span(bytes).subspan(from, length);
      EXPECT_EQ(crc32c(part), naive_crc32c(part)) << length << " from " << from;
    }
  }
}

TEST(ChunkChecksum, OfPartsIsThatOfTheWhole) {
  const std::vector<std::byte> bytes = varied_bytes(3000);
  ChunkChecksum whole;
  whole.add(bytes);
  ChunkChecksum parts;
  parts.add(std::span(bytes).first(128));
  parts.add({});
  parts.add(std::span(bytes).subspan(128));
  EXPECT_EQ(parts.value(), whole.value());
}

TEST(ChunkChecksum, IsNeverNone) {
  // Found by running the CRC backwards.
  const std::array zero = {std::byte{0xab}, std::byte{0x9b}, std::byte{0xe0}, std::byte{0x9b}};
  ASSERT_EQ(crc32c(zero), 0U);
  const Frame chunk = with_checksum(chunk_of(zero.size()), zero.data());
  EXPECT_EQ(chunk.checksum, 0xFFFFFFFFU);
  EXPECT_TRUE(check_checksum(chunk, zero.data()).ok());
}

TEST(ChunkChecksum, IsLeftAsItIs) {
  const std::vector<std::byte> bytes = varied_bytes(256);
  Frame relayed = chunk_of(bytes.size());
  relayed.checksum = 77;
  EXPECT_EQ(with_checksum(relayed, bytes.data()), relayed);
  EXPECT_EQ(with_checksum(chunk_of(0), nullptr).checksum, 0U);
}

TEST(ChunkChecksum, FindsWhatTcpDoesNot) {
  std::vector<std::byte> bytes = varied_bytes(4096);
  const Frame chunk = with_checksum(chunk_of(bytes.size()), bytes.data());
  EXPECT_TRUE(check_checksum(chunk, bytes.data()).ok());
  ASSERT_NE(bytes[100], bytes[200]);
  std::swap(bytes[100], bytes[200]);
  std::swap(bytes[101], bytes[201]);
  const absl::Status found = check_checksum(chunk, bytes.data());
  EXPECT_TRUE(absl::IsDataLoss(found));
  EXPECT_TRUE(found_corruption(found));
  EXPECT_THAT(
      std::string(found.message()),
      AllOf(HasSubstr("chunk corrupted"), HasSubstr("4096 bytes at 0 of message 3"), HasSubstr("changes data")));
}

TEST(ChunkChecksum, IsNotCheckedWhereThereIsNone) {
  const std::vector<std::byte> bytes = varied_bytes(256);
  EXPECT_TRUE(check_checksum(chunk_of(bytes.size()), bytes.data()).ok());
  EXPECT_FALSE(found_corruption(absl::UnavailableError("the cable is silent")));
}

}  // namespace
}  // namespace cableway
