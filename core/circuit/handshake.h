// The handshake that opens a connection between two nodes or processes, as bytes in and bytes out: it knows no socket
// and waits for nothing, so that the dialer (hop_dial.h), the acceptor (hop_reception.h) and the cable probe
// (core/linux/hop/cable_probe.h) all speak it. docs/protocol.md has the frames, core/circuit/circuit_seal.h the seals.
//
//   acceptor                            dialer
//   challenge -----------------------> <----------------------- challenge     only with a key
//             <------------------------------------------------ set-up or probe, its seal
//   set-up-ok or failed, its seal ---->
//
//   DialHandshake shake(key, random);
//   send(shake.begin());
//   while (!shake.may_open()) if (Status s = shake.take(read(shake.wants())); !s.ok()) return s;
//   send(shake.open(frame));
//   while (!shake.answered()) ...the same
//
// One thread at a time.
#ifndef CABLEWAY_CORE_CIRCUIT_HANDSHAKE_H_
#define CABLEWAY_CORE_CIRCUIT_HANDSHAKE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/circuit/circuit_seal.h"
#include "core/crypto/sub_key.h"
#include "core/flow/frame.h"

namespace cableway {

// One frame as it comes in: the header, the body that it announces, and the seal of both.
class FrameIntake {
 public:
  enum class Part : std::uint8_t { kHeader, kBody, kSeal, kWhole };

  Part part() const { return part_; }
  // Bytes that the part needs; 0: the frame is whole.
  std::size_t wants() const;
  // Requires as many bytes as it wants. After the header comes the body, if there is one; after that expect_seal() or
  // the end.
  absl::Status take(std::span<const std::byte> bytes);
  // The header or the body has come, and its seal is the next thing to come.
  void expect_seal() { part_ = Part::kSeal; }
  // The next frame's header is the next thing to come.
  void restart();

  const Frame& frame() const { return frame_; }
  std::span<const std::byte> body() const { return std::span(bytes_).subspan(kFrameHeaderBytes); }
  // Header and body, for their seal.
  std::span<const std::byte> bytes() const { return bytes_; }
  bool has_seal() const { return seal_.has_value(); }
  // Of what has come in place of a seal, which need not be one; and whether it is the right one.
  FrameKind seal_kind() const { return seal_->kind; }
  bool sealed_by(CircuitSeal& seal) const;

 private:
  Part part_ = Part::kHeader;
  Frame frame_;
  std::vector<std::byte> bytes_;
  std::optional<Frame> seal_;
};

class DialHandshake {
 public:
  // With a key (of KeyUse::kCircuitSetup) each end proves to the other that it has it. `challenge` is random.
  DialHandshake(std::optional<SubKey> key, const Challenge& challenge);

  // To be sent first; nothing without a key.
  std::vector<std::byte> begin() const;
  // Whether open() is what comes next.
  bool may_open() const { return stage_ == Stage::kMayOpen; }
  // The set-up or the probe, header and body; returns what is to be sent.
  std::vector<std::byte> open(std::vector<std::byte> frame);
  bool answered() const { return stage_ == Stage::kAnswered; }

  // Bytes that take() needs next. 0: it waits for open(), or is over.
  std::size_t wants() const;
  // A status other than OK is final. Aborted: the other end refuses, in its own words, which it has proven to be its
  // own where there is a key. Anything else was found here.
  absl::Status take(std::span<const std::byte> bytes);
  // The connection has ended before wants() bytes came, and why: what that means.
  absl::Status ended(absl::string_view why) const;

  // Once it is answered: the frame set-up-ok.
  const Frame& answer() const { return intake_.frame(); }
  std::span<const std::byte> answer_body() const { return intake_.body(); }

 private:
  enum class Stage : std::uint8_t { kChallenge, kMayOpen, kAnswer, kAnswered };

  absl::Status take_challenge();
  absl::Status take_answer();
  absl::Status unexpected() const;
  absl::Status refused(bool proven) const;
  absl::Status unproven_acceptance() const;

  const std::optional<SubKey> key_;
  const Challenge challenge_;
  Stage stage_;
  FrameIntake intake_;
  std::optional<CircuitSeal> seal_;  // once both ends have said their challenges
};

class AcceptHandshake {
 public:
  // With a key whoever connects must have it, too; without one nobody may have one.
  AcceptHandshake(std::optional<SubKey> key, const Challenge& challenge);

  // To be sent first; nothing without a key.
  std::vector<std::byte> begin() const;
  bool opened() const { return opened_; }

  // As DialHandshake's. PermissionDenied: the two ends have not the same key.
  std::size_t wants() const { return opened_ ? 0 : intake_.wants(); }
  absl::Status take(std::span<const std::byte> bytes);
  absl::Status ended(absl::string_view why) const;

  // Once it is opened: the set-up or the probe, which nobody has changed where there is a key.
  const Frame& opening() const { return intake_.frame(); }
  std::span<const std::byte> opening_body() const { return intake_.body(); }
  // Of the answer; none without a key.
  std::optional<CircuitSeal> release_seal() { return std::move(seal_); }

 private:
  absl::Status take_header();
  absl::Status take_seal();

  const std::optional<SubKey> key_;
  const Challenge challenge_;
  FrameIntake intake_;
  std::optional<CircuitSeal> seal_;
  bool opened_ = false;
};

// A frame `failed` with as much of the reason as it may have, as it is to be sent in answer to an opening.
std::vector<std::byte> refusal(absl::string_view reason, std::optional<CircuitSeal>& seal);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_HANDSHAKE_H_
