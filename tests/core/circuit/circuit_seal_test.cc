#include "core/circuit/circuit_seal.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "core/crypto/control_key.h"

namespace cableway {
namespace {

constexpr char kCounting[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

SubKey key_of(const std::string& text) {
  absl::StatusOr<ControlKey> key = ControlKey::parse(text);
  EXPECT_TRUE(key.ok()) << key.status();
  return key->subkey(KeyUse::kCircuitSetup);
}

Challenge counting_from(int first) {
  Challenge challenge;
  for (std::size_t i = 0; i < challenge.size(); ++i) challenge[i] = static_cast<std::byte>(first + static_cast<int>(i));
  return challenge;
}

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string hex_of(const Mac& mac) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(mac.data()), mac.size()});
}

CircuitSeal sample() {
  return CircuitSeal(key_of(kCounting), counting_from(0), counting_from(16));
}

// From an independent BLAKE2b with the subkey of control_key_test.cc: the first over 1, both challenges and the frame,
// the second over 2, both challenges, the first seal and the frame.
TEST(CircuitSeal, MatchesKnownValues) {
  CircuitSeal seal = sample();
  EXPECT_EQ(hex_of(seal.next(bytes("set-up"))), "df45e7e236929949f98fb85b073c05e6");
  EXPECT_EQ(hex_of(seal.next(bytes("answer"))), "adc7172db4de556c40d3116292795feb");
}

TEST(CircuitSeal, VerifiesOnlyWithItsKeyChallengesAndTurn) {
  const Mac right = sample().next(bytes("frame"));
  EXPECT_TRUE(sample().next_is(bytes("frame"), right));
  EXPECT_FALSE(sample().next_is(bytes("frames"), right));
  EXPECT_FALSE(
      CircuitSeal(key_of(std::string(64, 'a')), counting_from(0), counting_from(16)).next_is(bytes("frame"), right));
  EXPECT_FALSE(CircuitSeal(key_of(kCounting), counting_from(1), counting_from(16)).next_is(bytes("frame"), right));
  EXPECT_FALSE(CircuitSeal(key_of(kCounting), counting_from(0), counting_from(17)).next_is(bytes("frame"), right));
  // A seal of one direction is not valid in the other.
  EXPECT_FALSE(CircuitSeal(key_of(kCounting), counting_from(16), counting_from(0)).next_is(bytes("frame"), right));
  CircuitSeal second = sample();
  second.next(bytes("frame"));
  EXPECT_FALSE(second.next_is(bytes("frame"), right));
}

TEST(CircuitSeal, OfAnAnswerDependsOnItsSetUp) {
  CircuitSeal one = sample();
  CircuitSeal other = sample();
  one.next(bytes("set-up"));
  other.next(bytes("another"));
  EXPECT_FALSE(other.next_is(bytes("answer"), one.next(bytes("answer"))));
}

TEST(CircuitSeal, DetectsEveryBitFlip) {
  const std::string frame = "a frame of some bytes";
  const Mac right = sample().next(bytes(frame));
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    std::string changed = frame;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(sample().next_is(bytes(changed), right)) << bit;
  }
  for (std::size_t bit = 0; bit < 8 * right.size(); ++bit) {
    Mac changed = right;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(sample().next_is(bytes(frame), changed)) << bit;
  }
}

TEST(CircuitSeal, IsSentInItsOwnFrame) {
  const Challenge challenge = counting_from(200);
  const absl::StatusOr<Frame> frame = decode_frame(encode_challenge(challenge));
  ASSERT_TRUE(frame.ok()) << frame.status();
  EXPECT_EQ(frame->kind, FrameKind::kChallenge);
  EXPECT_EQ(sixteen_bytes_of(*frame), challenge);
  std::vector<std::byte> sealed(3, std::byte{7});
  const Mac seal = sample().next(sealed);
  sample().append_next(sealed);
  ASSERT_EQ(sealed.size(), 3 + kFrameHeaderBytes);
  const absl::StatusOr<Frame> appended =
      decode_frame(std::span<const std::byte, kFrameHeaderBytes>(sealed.data() + 3, kFrameHeaderBytes));
  ASSERT_TRUE(appended.ok()) << appended.status();
  EXPECT_EQ(appended->kind, FrameKind::kSeal);
  EXPECT_EQ(sixteen_bytes_of(*appended), seal);
}

TEST(SubKey, ComparesAllBytes) {
  const SubKey key = key_of(kCounting);
  SubKey copy = key;
  EXPECT_TRUE(copy == key);
  copy.bytes()[31] ^= std::byte{1};
  EXPECT_FALSE(copy == key);
}

}  // namespace
}  // namespace cableway
