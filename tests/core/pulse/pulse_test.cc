#include "core/pulse/pulse.h"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/crypto/keyed_seal.h"

namespace cableway {
namespace {

const Pulse kPulse{false, false, true, {{11}, 2}, {{22}, 3}, 1234, 77, 10, 4};

std::vector<std::byte> encoded(const Pulse& pulse, const DatagramSeal& seal) {
  std::vector<std::byte> bytes;
  encode_pulse(pulse, seal, bytes);
  return bytes;
}

std::optional<Pulse> decoded(std::span<const std::byte> bytes, const DatagramSeal& seal) {
  const std::optional<Pulse> pulse = decode_pulse(bytes);
  return pulse.has_value() && is_pulse_sealed(bytes, seal) ? pulse : std::nullopt;
}

KeyedSeal seal_of(char digit) {
  return KeyedSeal(*KeyRing::parse(std::string(64, digit)));
}

TEST(PulseTest, IsDecodedAsItWasEncoded) {
  const std::vector<std::byte> bytes = encoded(kPulse, seal_of('a'));
  EXPECT_EQ(bytes.size(), kPulseBytes);
  EXPECT_EQ(decoded(bytes, seal_of('a')), kPulse);
  EXPECT_EQ(decoded(encoded(kPulse, NoSeal()), NoSeal()), kPulse);
  for (bool Pulse::*says : {&Pulse::hears, &Pulse::hears_large, &Pulse::large}) {
    Pulse other = kPulse;
    other.*says = !(kPulse.*says);
    EXPECT_EQ(decoded(encoded(other, NoSeal()), NoSeal()), other);
  }
}

TEST(PulseTest, OneInFiftyMillisecondsIsLargeAndNeverAll) {
  using std::chrono::milliseconds;
  const auto every = [](int interval_ms) { return large_pulse_every(milliseconds(interval_ms)); };
  EXPECT_EQ(every(1), 50);
  EXPECT_EQ(every(10), 5);
  EXPECT_EQ(every(15), 4);
  EXPECT_EQ(every(50), 2);
  EXPECT_EQ(every(kMaxPulseIntervalMs), 2);
}

TEST(PulseTest, AnyOtherBitIsRefused) {
  const std::vector<std::byte> bytes = encoded(kPulse, seal_of('a'));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::vector<std::byte> changed = bytes;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(decoded(changed, seal_of('a')), std::nullopt) << bit;
  }
}

TEST(PulseTest, AnotherKeyOrNoneIsRefused) {
  EXPECT_EQ(decoded(encoded(kPulse, seal_of('a')), seal_of('b')), std::nullopt);
  EXPECT_EQ(decoded(encoded(kPulse, seal_of('a')), NoSeal()), std::nullopt);
  EXPECT_EQ(decoded(encoded(kPulse, NoSeal()), seal_of('a')), std::nullopt);
}

TEST(PulseTest, EitherOfTwoKeysIsAcceptedAndTheFirstSeals) {
  const std::string a(64, 'a');
  const std::string b(64, 'b');
  const KeyedSeal both(*KeyRing::parse(a + "\n" + b));
  EXPECT_EQ(decoded(encoded(kPulse, seal_of('a')), both), kPulse);
  EXPECT_EQ(decoded(encoded(kPulse, seal_of('b')), both), kPulse);
  EXPECT_EQ(decoded(encoded(kPulse, seal_of('c')), both), std::nullopt);
  EXPECT_EQ(decoded(encoded(kPulse, both), seal_of('a')), kPulse);
  EXPECT_EQ(decoded(encoded(kPulse, both), seal_of('b')), std::nullopt);
}

TEST(PulseTest, AnotherLengthIsRefused) {
  std::vector<std::byte> bytes = encoded(kPulse, NoSeal());
  bytes.push_back(std::byte{0});
  EXPECT_EQ(decoded(bytes, NoSeal()), std::nullopt);
  for (std::size_t size = 0; size < kPulseBytes; ++size) {
    EXPECT_EQ(decoded(std::span(bytes).first(size), NoSeal()), std::nullopt) << size;
  }
}

TEST(PulseTest, ZeroIsNoCounterAndNoIntervalAndAnIntervalIsShort) {
  Pulse pulse = kPulse;
  pulse.counter = 0;
  EXPECT_EQ(decoded(encoded(pulse, NoSeal()), NoSeal()), std::nullopt);
  pulse = kPulse;
  for (const std::uint16_t interval : {0, kMaxPulseIntervalMs + 1, UINT16_MAX}) {
    pulse.interval_ms = interval;
    EXPECT_EQ(decoded(encoded(pulse, NoSeal()), NoSeal()), std::nullopt) << interval;
  }
}

}  // namespace
}  // namespace cableway
