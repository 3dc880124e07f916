#include "core/session/session_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/session/session_message.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMost = 65536;

std::vector<std::byte> framed(std::size_t size, std::byte fill) {
  std::vector<std::byte> bytes(4 + size, fill);
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = std::byte(size >> (8 * i));
  return bytes;
}

// Copies as much as there is room for. Returns how much.
std::size_t give(SessionInput& input, std::span<const std::byte> bytes) {
  const std::span<std::byte> room = input.room();
  const std::size_t given = std::min(room.size(), bytes.size());
  std::copy_n(bytes.begin(), given, room.begin());
  input.filled(given);
  return given;
}

std::vector<std::vector<std::byte>> all_of(SessionInput& input) {
  std::vector<std::vector<std::byte>> messages;
  while (true) {
    const auto next = input.next();
    EXPECT_TRUE(next.ok()) << next.status();
    if (!next.ok() || !*next) return messages;
    messages.emplace_back((*next)->begin(), (*next)->end());
  }
}

TEST(SessionInputTest, TakesLengthsAsMessagesHaveThem) {
  SessionInput input(kMost);
  give(input, encode_session_message(Hello{kSessionVersion, "test"}));
  const auto messages = all_of(input);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_TRUE(decode_session_message(messages[0]).ok());
}

TEST(SessionInputTest, MessagesComeWholeHoweverTheirBytesCome) {
  std::mt19937 random(1);
  const auto up_to = [&](std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(random); };
  for (int round = 0; round < 50; ++round) {
    std::vector<std::vector<std::byte>> sent;
    std::vector<std::byte> stream;
    for (std::size_t i = 0; i < 40; ++i) {
      const std::size_t size = up_to(9) == 0 ? up_to(kMost) : up_to(300);
      sent.emplace_back(size, std::byte(i));
      const std::vector<std::byte> bytes = framed(size, std::byte(i));
      stream.insert(stream.end(), bytes.begin(), bytes.end());
    }
    SessionInput input(kMost);
    std::vector<std::vector<std::byte>> got;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t part = std::min(stream.size() - at, 1 + (up_to(1) == 0 ? up_to(8) : up_to(20'000)));
      at += give(input, std::span(stream).subspan(at, part));
      for (auto& each : all_of(input)) got.push_back(std::move(each));
    }
    EXPECT_EQ(got, sent);
  }
}

TEST(SessionInputTest, RefusesWhatIsTooLongBeforeItHasCome) {
  SessionInput input(kMost);
  const std::vector<std::byte> longest = framed(kMost, std::byte{1});
  give(input, std::span(longest).first(4));
  EXPECT_TRUE(all_of(input).empty());
  give(input, std::span(longest).subspan(4));
  EXPECT_EQ(all_of(input).size(), 1U);

  const std::vector<std::byte> too_long = framed(kMost + 1, std::byte{2});
  give(input, std::span(too_long).first(4));
  const auto next = input.next();
  EXPECT_EQ(next.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(next.status().message()), HasSubstr("a request of 65537 bytes; expected at most 65536"));
  EXPECT_FALSE(input.next().ok());
  EXPECT_LE(input.room().size(), kMost + 4);  // and takes no memory for it
}

TEST(SessionInputTest, HoldsLittleUnlessAMessageIsLong) {
  SessionInput input(kMost);
  EXPECT_EQ(input.room().size(), 32768U);
  for (int i = 0; i < 1000; ++i) {
    give(input, framed(100, std::byte{3}));
    EXPECT_EQ(all_of(input).size(), 1U);
    EXPECT_EQ(input.room().size(), 32768U);
  }
}

}  // namespace
}  // namespace cableway
