#include "core/circuit/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/circuit/circuit_setup.h"

namespace cableway {
namespace {

using testing::HasSubstr;

using Bytes = std::vector<std::byte>;

SubKey key_of(int number) {
  SubKey key;
  std::fill(key.bytes().begin(), key.bytes().end(), static_cast<std::byte>(number));
  return key;
}

Challenge challenge_of(int number) {
  Challenge challenge;
  challenge.fill(static_cast<std::byte>(number));
  return challenge;
}

Bytes probe() {
  const FrameBytes frame = encode_frame(Frame{FrameKind::kProbe, 0, 0, 1, 500});
  return {frame.begin(), frame.end()};
}

std::string text_of(const absl::Status& status) {
  return std::string(status.message());
}

// Feeds `bytes` to `side` in the parts that it needs, and removes what it has consumed.
template <typename Side>
absl::Status feed(Side& side, Bytes& bytes) {
  while (side.bytes_needed() > 0 && bytes.size() >= side.bytes_needed()) {
    const auto count = static_cast<std::ptrdiff_t>(side.bytes_needed());
    const Bytes part(bytes.begin(), bytes.begin() + count);
    bytes.erase(bytes.begin(), bytes.begin() + count);
    if (absl::Status status = side.take(part); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Both sides, and the bytes in flight in each direction.
struct Talk {
  // The same key at both ends, or none.
  explicit Talk(const std::optional<SubKey>& both) : Talk(both, both ? SetupKeys(*both) : SetupKeys()) {}
  Talk(std::optional<SubKey> dialers, SetupKeys acceptors)
      : dialer(std::move(dialers), challenge_of(1)), acceptor(std::move(acceptors), challenge_of(2)) {
    to_acceptor = dialer.begin();
    to_dialer = acceptor.begin();
  }
  // Runs the handshake until the acceptor has the opening frame. Returns the first error of either side.
  absl::Status open(const Bytes& frame) {
    if (absl::Status status = feed(dialer, to_dialer); !status.ok()) return status;
    if (!dialer.may_open()) return absl::UnknownError("the dialer received nothing");
    const Bytes opening = dialer.open(frame);
    to_acceptor.insert(to_acceptor.end(), opening.begin(), opening.end());
    return feed(acceptor, to_acceptor);
  }
  // Passes the acceptor's answer to the dialer.
  absl::Status answer(Bytes bytes) {
    if (std::optional<CircuitSeal> seal = acceptor.release_seal()) seal->append_next(bytes);
    return feed(dialer, bytes);
  }
  absl::Status refuse(const std::string& reason, FailureScope scope = FailureScope::kCircuit) {
    std::optional<CircuitSeal> seal = acceptor.release_seal();
    Bytes bytes = refusal(reason, scope, seal);
    return feed(dialer, bytes);
  }

  DialHandshake dialer;
  AcceptHandshake acceptor;
  Bytes to_acceptor;
  Bytes to_dialer;
};

class HandshakeTest : public testing::TestWithParam<bool> {
 protected:
  static std::optional<SubKey> key() { return GetParam() ? std::optional(key_of(7)) : std::nullopt; }
};

INSTANTIATE_TEST_SUITE_P(Key, HandshakeTest, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Sealed" : "Open"; });

TEST_P(HandshakeTest, CarriesTheOpeningAndTheAnswer) {
  Talk talk(key());
  ASSERT_TRUE(talk.open(probe()).ok());
  ASSERT_TRUE(talk.acceptor.opened());
  EXPECT_EQ(talk.acceptor.opening(), (Frame{FrameKind::kProbe, 0, 0, 1, 500}));
  EXPECT_TRUE(talk.to_acceptor.empty());
  EXPECT_EQ(talk.acceptor.bytes_needed(), 0U);

  const SetupAnswer answer{4096, TransportOffer{TransportKind::kRdma, Bytes(40, std::byte{5})}};
  ASSERT_TRUE(talk.answer(encode_setup_answer(answer)).ok());
  ASSERT_TRUE(talk.dialer.answered());
  EXPECT_EQ(*decode_setup_answer(talk.dialer.answer(), talk.dialer.answer_body()), answer);
  EXPECT_EQ(talk.dialer.bytes_needed(), 0U);
}

TEST_P(HandshakeTest, CarriesTheReasonOfARefusal) {
  Talk talk(key());
  ASSERT_TRUE(talk.open(probe()).ok());
  EXPECT_EQ(talk.refuse("no room\x01"), absl::AbortedError("no room?"));
}

TEST_P(HandshakeTest, CarriesTheScopeOfARefusal) {
  Talk talk(key());
  ASSERT_TRUE(talk.open(probe()).ok());
  EXPECT_EQ(talk.refuse("no such flow", FailureScope::kFlow), absl::NotFoundError("no such flow"));
}

TEST_P(HandshakeTest, DescribesAnEarlyEnd) {
  Talk talk(key());
  EXPECT_THAT(text_of(talk.acceptor.ended("reset")), "closed before its set-up: reset");
  ASSERT_TRUE(talk.open(probe()).ok());
  EXPECT_THAT(text_of(talk.dialer.ended("reset")), "no answer to the set-up: reset");
}

TEST(Handshake, IsRefusedIfOnlyOneEndHasAKey) {
  Talk without(std::nullopt, SetupKeys(key_of(7)));
  EXPECT_TRUE(absl::IsPermissionDenied(without.open(probe())));
  EXPECT_THAT(text_of(feed(without.dialer, without.to_dialer)), HasSubstr("it has a key, and this end has none"));
  Talk with(key_of(7), SetupKeys());
  EXPECT_THAT(text_of(feed(with.acceptor, with.to_acceptor)), HasSubstr("the sender has a key, and this end has none"));
  // An unsealed refusal is reported as unauthenticated.
  EXPECT_THAT(text_of(with.refuse("go away")), HasSubstr("refused without a proof that it has this cluster's key: go"));
}

// Whoever is between the two ends could send it.
TEST(Handshake, AnUnprovenRefusalEndsNoFlow) {
  Talk talk(key_of(7));
  ASSERT_TRUE(talk.open(probe()).ok());
  std::optional<CircuitSeal> none;
  Bytes bytes = refusal("no such flow", FailureScope::kFlow, none);
  ASSERT_TRUE(feed(talk.dialer, bytes).ok());
  EXPECT_TRUE(absl::IsUnavailable(talk.dialer.ended("closed")));
  // Also with its scope changed under the seal.
  Talk changed(key_of(7));
  ASSERT_TRUE(changed.open(probe()).ok());
  std::optional<CircuitSeal> seal = changed.acceptor.release_seal();
  bytes = refusal("no room", FailureScope::kCircuit, seal);
  bytes[16] = std::byte{1};
  EXPECT_TRUE(absl::IsUnavailable(feed(changed.dialer, bytes)));
}

TEST(Handshake, IsRefusedIfTheKeysDiffer) {
  Talk talk(key_of(7), SetupKeys(key_of(8)));
  const absl::Status status = talk.open(probe());
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(text_of(status), HasSubstr("the seal of the probe is wrong"));
  EXPECT_FALSE(talk.acceptor.opened());
}

// Keys 7 and 8: before the change of a key, in its half-way states, and after it.
TEST(Handshake, NeedsAnAcceptorThatHasTheDialersKey) {
  const std::vector<std::pair<std::string, SetupKeys>> acceptors{{"old", SetupKeys(key_of(7))},
                                                                 {"old, new", SetupKeys(key_of(7), key_of(8))},
                                                                 {"new, old", SetupKeys(key_of(8), key_of(7))},
                                                                 {"new", SetupKeys(key_of(8))}};
  for (const auto& [name, keys] : acceptors) {
    for (const int dialers : {7, 8, 9}) {
      const auto all = keys.accepted();
      const bool may_open = std::find(all.begin(), all.end(), key_of(dialers)) != all.end();
      Talk talk(key_of(dialers), keys);
      EXPECT_EQ(talk.open(probe()).ok(), may_open) << name << ", dialed with " << dialers;
      EXPECT_EQ(talk.acceptor.opened(), may_open);
      if (!may_open) {
        EXPECT_FALSE(talk.acceptor.release_seal().has_value()) << "nothing proves a key that the dialer has not proven";
        continue;
      }
      EXPECT_TRUE(talk.answer(encode_setup_answer({})).ok()) << name << ", dialed with " << dialers;
      EXPECT_TRUE(talk.dialer.answered());
    }
  }
}

TEST(Handshake, ARefusalIsProvenWithTheDialersKey) {
  for (const int dialers : {7, 8}) {
    Talk talk(key_of(dialers), SetupKeys(key_of(7), key_of(8)));
    ASSERT_TRUE(talk.open(probe()).ok());
    EXPECT_EQ(talk.refuse("no room"), absl::AbortedError("no room"));
  }
}

TEST(Handshake, DetectsEveryModifiedByte) {
  const auto flip = [](Bytes& bytes, std::size_t at) { bytes[at] ^= std::byte{0x20}; };
  const std::size_t opening = 2 * kFrameHeaderBytes;
  for (std::size_t at = 0; at < opening; ++at) {
    Talk talk(key_of(7));
    ASSERT_TRUE(feed(talk.dialer, talk.to_dialer).ok());
    ASSERT_TRUE(feed(talk.acceptor, talk.to_acceptor).ok());
    Bytes changed = talk.dialer.open(probe());
    ASSERT_EQ(changed.size(), opening);
    flip(changed, at);
    EXPECT_FALSE(feed(talk.acceptor, changed).ok() && talk.acceptor.opened()) << at;
  }
  for (std::size_t at = 0; at < opening; ++at) {
    Talk talk(key_of(7));
    ASSERT_TRUE(talk.open(probe()).ok());
    Bytes changed = encode_setup_answer({});
    talk.acceptor.release_seal()->append_next(changed);
    flip(changed, at);
    EXPECT_FALSE(feed(talk.dialer, changed).ok() && talk.dialer.answered()) << at;
  }
}

TEST(Handshake, RejectsAnUnsealedAcceptance) {
  Talk talk(key_of(7));
  ASSERT_TRUE(talk.open(probe()).ok());
  Bytes unsealed = encode_setup_answer({});
  ASSERT_TRUE(feed(talk.dialer, unsealed).ok());
  EXPECT_FALSE(talk.dialer.answered());
  EXPECT_THAT(text_of(talk.dialer.ended("closed")), HasSubstr("accepted without a proof"));
}

TEST(Handshake, ReportsATruncatedRefusal) {
  Talk talk(std::nullopt);
  ASSERT_TRUE(talk.open(probe()).ok());
  std::optional<CircuitSeal> none;
  Bytes bytes = refusal("a long reason", FailureScope::kFlow, none);
  bytes.resize(kFrameHeaderBytes);
  ASSERT_TRUE(feed(talk.dialer, bytes).ok());
  EXPECT_EQ(talk.dialer.ended("reset"),
            absl::UnavailableError("refused, and closed before the reason was complete: reset"));
}

TEST(Handshake, NamesUnexpectedFirstFrames) {
  for (const FrameKind kind : {FrameKind::kAck, FrameKind::kSetupOk, FrameKind::kSeal}) {
    AcceptHandshake acceptor(SetupKeys(), challenge_of(2));
    const absl::Status status = acceptor.take(encode_frame(Frame{kind, 0, 0, 0, 0}));
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(text_of(status), HasSubstr(to_text(kind)));
  }
  DialHandshake dialer(std::nullopt, challenge_of(1));
  dialer.open(probe());
  EXPECT_THAT(text_of(dialer.take(encode_frame(Frame{FrameKind::kAck, 0, 0, 0, 0}))),
              HasSubstr("answered by a frame ack"));
}

}  // namespace
}  // namespace cableway
