#include "core/crypto/key_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/crypto/keyed_seal.h"

namespace cableway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kOld(64, 'a');
const std::string kNew(64, 'b');
const std::string kOther(64, 'c');

KeyRing ring_of(const std::string& text) {
  absl::StatusOr<KeyRing> keys = KeyRing::parse(text);
  EXPECT_TRUE(keys.ok()) << keys.status();
  return *std::move(keys);
}

std::string fingerprint_of(const std::string& text) {
  return ControlKey::parse(text)->fingerprint();
}

std::span<const std::byte> message(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(KeyRing, HasTheKeysOfOneLineOrTwo) {
  EXPECT_THAT(ring_of(kOld).fingerprints(), ElementsAre(fingerprint_of(kOld)));
  for (const std::string& text : {kOld + "\n" + kNew, " \n" + kOld + "\r\n\n\t" + kNew + " \r\n\n"}) {
    EXPECT_THAT(ring_of(text).fingerprints(), ElementsAre(fingerprint_of(kOld), fingerprint_of(kNew)));
  }
  EXPECT_TRUE(ring_of(kOld + "\n" + kNew) == ring_of(kOld + "\n\n" + kNew + "\n"));
  EXPECT_FALSE(ring_of(kOld + "\n" + kNew) == ring_of(kNew + "\n" + kOld)) << "another one seals";
  EXPECT_FALSE(ring_of(kOld) == ring_of(kOld + "\n" + kNew));
}

TEST(KeyRing, MakesCodesWithItsFirstKeyAndAcceptsThoseOfBoth) {
  const KeyRing both = ring_of(kOld + "\n" + kNew);
  constexpr KeyUse kUse = KeyUse::kControlDatagram;
  EXPECT_EQ(both.mac(kUse, message("x")), ring_of(kOld).mac(kUse, message("x")));
  for (const std::string& text : {kOld, kNew}) {
    EXPECT_TRUE(both.verify(kUse, message("x"), ring_of(text).mac(kUse, message("x"))));
    EXPECT_FALSE(both.verify(kUse, message("y"), ring_of(text).mac(kUse, message("x"))));
    EXPECT_FALSE(both.verify(KeyUse::kCircuitSetup, message("x"), ring_of(text).mac(kUse, message("x"))));
  }
  EXPECT_FALSE(both.verify(kUse, message("x"), ring_of(kOther).mac(kUse, message("x"))));
  EXPECT_FALSE(ring_of(kNew).verify(kUse, message("x"), both.mac(kUse, message("x"))));
}

TEST(KeyRing, HasASetupKeyOfEachKey) {
  const SubKey before = ControlKey::parse(kOld)->subkey(KeyUse::kCircuitSetup);
  const SubKey after = ControlKey::parse(kNew)->subkey(KeyUse::kCircuitSetup);
  EXPECT_EQ(ring_of(kOld).setup_keys(), SetupKeys(before));
  EXPECT_EQ(ring_of(kOld + "\n" + kNew).setup_keys(), SetupKeys(before, after));
  EXPECT_EQ(ring_of(kNew + "\n" + kOld).setup_keys().sealing(), after);
  EXPECT_EQ(SetupKeys().sealing(), std::nullopt);
}

TEST(KeyRing, ErrorsNameTheLineAndRevealNothing) {
  const auto error_of = [](const std::string& text) {
    const absl::Status status = KeyRing::parse(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("expected 64 hex digits, as `openssl rand -hex 32`"));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("aaaa")));
    return std::string(status.message());
  };
  EXPECT_THAT(error_of(""), HasSubstr("the key file has no key"));
  EXPECT_THAT(error_of(" \n\t\n"), HasSubstr("the key file has no key"));
  EXPECT_THAT(error_of("aaaa"), HasSubstr("line 1: the key has 4 hex digits"));
  EXPECT_THAT(error_of(std::string(32, 'a') + "\n" + std::string(32, 'a')), HasSubstr("line 1: the key has 32 hex"));
  EXPECT_THAT(error_of(kOld + "\n\n" + kNew + "b"), HasSubstr("line 3: the key has 65 hex digits"));
  EXPECT_THAT(error_of(kOld + " " + kNew), HasSubstr("line 1: the key's character 65 is no hex digit"));
  EXPECT_THAT(error_of(kOld + "\n" + kOld), HasSubstr("the key file has the same key twice"));
  EXPECT_THAT(error_of(kOld + "\n" + std::string(64, 'A')), HasSubstr("the key file has the same key twice"));
  EXPECT_THAT(error_of(kOld + "\n" + kNew + "\n" + kOther), HasSubstr("line 3 has a third key"));
  EXPECT_THAT(error_of(std::string(kMaxKeyFileBytes + 1, ' ')), HasSubstr("more than 1024 bytes"));
}

TEST(KeyedSeal, UsesTheKeysThatItWasGivenLast) {
  KeyedSeal seal(ring_of(kOld));
  const KeyedSeal old_alone(ring_of(kOld));
  const KeyedSeal new_alone(ring_of(kNew));
  EXPECT_FALSE(seal.matches(message("x"), new_alone.seal(message("x"))));
  seal.use(std::make_shared<const KeyRing>(ring_of(kNew + "\n" + kOld)));
  EXPECT_EQ(seal.seal(message("x")), new_alone.seal(message("x")));
  EXPECT_TRUE(seal.matches(message("x"), old_alone.seal(message("x"))));
  seal.use(std::make_shared<const KeyRing>(ring_of(kNew)));
  EXPECT_FALSE(seal.matches(message("x"), old_alone.seal(message("x"))));
}

}  // namespace
}  // namespace cableway
