#include "core/wire.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace cableway {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(WireWriter, IsLittleEndian) {
  std::vector<std::byte> out;
  WireWriter writer(out);
  writer.put(std::uint8_t{0x01});
  writer.put(std::uint16_t{0x0203});
  writer.put(std::uint32_t{0x04050607});
  writer.put(std::uint64_t{0x08090a0b0c0d0e0f});
  EXPECT_EQ(out, bytes_of({1, 3, 2, 7, 6, 5, 4, 0xf, 0xe, 0xd, 0xc, 0xb, 0xa, 9, 8}));
}

TEST(WireWriter, PrefixesTextWithItsLength) {
  std::vector<std::byte> out;
  WireWriter writer(out);
  writer.put_text("ab");
  writer.put_long_text("c");
  writer.put_text("");
  EXPECT_EQ(out, bytes_of({2, 0, 'a', 'b', 1, 0, 0, 0, 'c', 0, 0}));
}

TEST(WireWriter, TruncatesTextBeyondA16BitLength) {
  std::vector<std::byte> out;
  WireWriter(out).put_text(std::string(70000, 'x'));
  ASSERT_EQ(out.size(), 2U + 0xffff);
  WireReader reader(out);
  EXPECT_EQ(reader.get_text(0xffff), std::string(0xffff, 'x'));
  EXPECT_TRUE(reader.finished());
}

TEST(WireReader, AFlagIsZeroOrOne) {
  const std::vector<std::byte> bytes = bytes_of({1, 0, 2, 1});
  WireReader reader(bytes);
  EXPECT_TRUE(reader.get_flag());
  EXPECT_FALSE(reader.get_flag());
  EXPECT_TRUE(reader.ok());
  EXPECT_FALSE(reader.get_flag());
  EXPECT_FALSE(reader.ok());
  EXPECT_FALSE(reader.get_flag()) << "a reader stays bad";
  EXPECT_EQ(reader.left(), 1U);
}

TEST(WireReader, ReadsWhatWasWritten) {
  std::vector<std::byte> out;
  WireWriter writer(out);
  writer.put(std::numeric_limits<std::uint8_t>::max());
  writer.put(std::uint16_t{0x8001});
  writer.put(std::numeric_limits<std::uint32_t>::max());
  writer.put(std::uint64_t{1} << 63);
  writer.put_bytes(bytes_of({5, 6, 7}));
  writer.put_text("short");
  writer.put_long_text(std::string(100000, 'y'));

  WireReader reader(out);
  EXPECT_EQ(reader.get<std::uint8_t>(), 0xff);
  EXPECT_EQ(reader.get<std::uint16_t>(), 0x8001);
  EXPECT_EQ(reader.get<std::uint32_t>(), 0xffffffff);
  EXPECT_EQ(reader.get<std::uint64_t>(), std::uint64_t{1} << 63);
  std::vector<std::byte> three(3);
  reader.get_bytes(three);
  EXPECT_EQ(three, bytes_of({5, 6, 7}));
  EXPECT_EQ(reader.get_text(5), "short");
  EXPECT_FALSE(reader.finished());
  EXPECT_EQ(reader.get_long_text(), std::string(100000, 'y'));
  EXPECT_TRUE(reader.finished());
}

TEST(WireReader, StaysBadOncePastItsInput) {
  const std::vector<std::byte> in = bytes_of({1, 2, 3});
  WireReader reader(in);
  EXPECT_EQ(reader.get<std::uint32_t>(), 0U);
  EXPECT_FALSE(reader.ok());
  // One byte would still fit, but the position in the input is lost.
  EXPECT_EQ(reader.get<std::uint8_t>(), 0U);
  EXPECT_EQ(reader.get_text(10), "");
  EXPECT_EQ(reader.get_long_text(), "");
  EXPECT_FALSE(reader.finished());
}

TEST(WireReader, LeavesOutputUnchangedIfInputIsShort) {
  WireReader reader(std::span<const std::byte>{});
  std::vector<std::byte> out = bytes_of({9, 9});
  reader.get_bytes(out);
  EXPECT_EQ(out, bytes_of({9, 9}));
  EXPECT_FALSE(reader.ok());
}

TEST(WireReader, RefusesTextLongerThanItsBoundOrItsInput) {
  const std::vector<std::byte> in = bytes_of({3, 0, 'a', 'b', 'c'});
  WireReader bounded(in);
  EXPECT_EQ(bounded.get_text(2), "");
  EXPECT_FALSE(bounded.ok());
  WireReader exact(in);
  EXPECT_EQ(exact.get_text(3), "abc");
  EXPECT_TRUE(exact.finished());

  const std::vector<std::byte> lies = bytes_of({0xff, 0xff, 0xff, 0xff, 'a'});
  WireReader of_lies(lies);
  EXPECT_EQ(of_lies.get_long_text(), "");
  EXPECT_FALSE(of_lies.ok());
}

TEST(WireReader, IsNotFinishedWithBytesLeft) {
  const std::vector<std::byte> in = bytes_of({1, 2});
  WireReader reader(in);
  reader.get<std::uint8_t>();
  EXPECT_TRUE(reader.ok());
  EXPECT_FALSE(reader.finished());
}

}  // namespace
}  // namespace cableway
