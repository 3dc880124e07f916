#include "core/crypto/control_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kCounting[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

static_assert(!std::is_copy_constructible_v<ControlKey> && !std::is_copy_assignable_v<ControlKey>);

ControlKey key_of(const std::string& text) {
  absl::StatusOr<ControlKey> key = ControlKey::parse(text);
  EXPECT_TRUE(key.ok()) << key.status();
  return *std::move(key);
}

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string hex_of(const Mac& mac) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(mac.data()), mac.size()});
}

// From an independent BLAKE2b: blake2b(message, key=subkey, digest_size=16), where
// subkey = blake2b(key=secret, digest_size=32, salt=use (8 bytes, little endian), person="cableway").
TEST(ControlKey, MatchesKnownValues) {
  const ControlKey key = key_of(kCounting);
  std::string all;
  for (int i = 0; i < 6 * 256; ++i) all += static_cast<char>(i % 256);
  EXPECT_EQ(hex_of(key.mac(KeyUse::kControlDatagram, {})), "f3a1ca0bad19984503cd2b6b56a70b17");
  EXPECT_EQ(hex_of(key.mac(KeyUse::kControlDatagram, bytes("hello"))), "8ea43e75bb04ee60df834787ab026dee");
  EXPECT_EQ(hex_of(key.mac(KeyUse::kControlDatagram, bytes(all))), "1d3a3d5f766d3f87d48270bb0d829f0a");
  EXPECT_EQ(hex_of(key.mac(KeyUse::kCircuitSetup, {})), "6ead16ca774b46855bc30efbb568e444");
  EXPECT_EQ(hex_of(key.mac(KeyUse::kCircuitSetup, bytes("hello"))), "7bbf42330cf8418f9a84c4aa64ea576f");
  EXPECT_EQ(hex_of(key.mac(KeyUse::kCircuitSetup, bytes(all))), "07d68e5591475e3a26ee7eb55e89cd62");
}

// The same subkey of use 3, its first four bytes.
TEST(ControlKey, HasAKnownFingerprint) {
  EXPECT_EQ(key_of(kCounting).fingerprint(), "4ab0dfe2");
  EXPECT_EQ(key_of(std::string(64, 'a')).fingerprint(), "d4c40378");
}

TEST(ControlKey, EqualsOneOfTheSameSecret) {
  EXPECT_TRUE(key_of(std::string(64, 'a')) == key_of(std::string(64, 'A')));
  EXPECT_FALSE(key_of(std::string(64, 'a')) == key_of(std::string(64, 'b')));
}

TEST(ControlKey, VerifiesOnlyItsOwnMacs) {
  const ControlKey key = key_of(kCounting);
  const std::string message = "message";
  const Mac mac = key.mac(KeyUse::kControlDatagram, bytes(message));
  EXPECT_TRUE(key.verify(KeyUse::kControlDatagram, bytes(message), mac));
  EXPECT_FALSE(key.verify(KeyUse::kCircuitSetup, bytes(message), mac));
  EXPECT_FALSE(key.verify(KeyUse::kControlDatagram, bytes("massage"), mac));
  EXPECT_FALSE(key.verify(KeyUse::kControlDatagram, bytes("message "), mac));
  for (std::size_t bit = 0; bit < 8 * mac.size(); ++bit) {
    Mac wrong = mac;
    wrong[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(key.verify(KeyUse::kControlDatagram, bytes(message), wrong)) << bit;
  }
  EXPECT_FALSE(key_of("f" + std::string(kCounting + 1)).verify(KeyUse::kControlDatagram, bytes(message), mac));
}

TEST(ControlKey, AcceptsSurroundingWhiteSpaceAndEitherCase) {
  const Mac mac = key_of(kCounting).mac(KeyUse::kControlDatagram, bytes("x"));
  EXPECT_EQ(key_of(std::string(kCounting) + "\n").mac(KeyUse::kControlDatagram, bytes("x")), mac);
  EXPECT_EQ(key_of(" \t\r\n" + std::string(kCounting) + "\r\n\n").mac(KeyUse::kControlDatagram, bytes("x")), mac);
  EXPECT_EQ(key_of("000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F")
                .mac(KeyUse::kControlDatagram, bytes("x")),
            mac);
}

TEST(ControlKey, IsMovable) {
  ControlKey first = key_of(kCounting);
  const Mac mac = first.mac(KeyUse::kCircuitSetup, bytes("x"));
  ControlKey second = std::move(first);
  EXPECT_TRUE(second.verify(KeyUse::kCircuitSetup, bytes("x"), mac));
  ControlKey third = key_of(std::string(64, 'a'));
  third = std::move(second);
  EXPECT_TRUE(third.verify(KeyUse::kCircuitSetup, bytes("x"), mac));
}

TEST(ControlKey, ErrorsDoNotRevealTheKey) {
  const auto error_of = [](const std::string& text) {
    const absl::Status status = ControlKey::parse(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("expected 64 hex digits, as `openssl rand -hex 32`"));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("abcd")));
    return std::string(status.message());
  };
  EXPECT_THAT(error_of(""), HasSubstr("has 0 hex digits"));
  EXPECT_THAT(error_of("\n"), HasSubstr("has 0 hex digits"));
  EXPECT_THAT(error_of(std::string(63, 'a')), HasSubstr("has 63 hex digits"));
  EXPECT_THAT(error_of(std::string(65, 'a')), HasSubstr("has 65 hex digits"));
  EXPECT_THAT(error_of(" abcdx" + std::string(59, 'a')), HasSubstr("character 5 is no hex digit"));
  EXPECT_THAT(error_of(std::string(32, 'a') + "\n" + std::string(32, 'a')), HasSubstr("character 33"));
  EXPECT_THAT(error_of(std::string(64, '\0')), HasSubstr("character 1 "));
}

}  // namespace
}  // namespace cableway
