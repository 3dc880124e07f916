// The handshake that opens a connection between two nodes or processes, as a state machine of bytes in and bytes out,
// without I/O: the dialer (hop_dial.h), the acceptor (hop_reception.h) and the cable probe
// (core/linux/hop/cable_probe.h) use it. docs/protocol.md has the frames, core/circuit/circuit_seal.h the seals.
//
//   acceptor                            dialer
//   challenge -----------------------> <----------------------- challenge     only with a key
//             <------------------------------------------------ set-up or probe, its seal
//   set-up-ok, document or failed, its seal ---->
//
//   DialHandshake shake(key, random);
//   send(shake.begin());
//   while (!shake.may_open()) if (Status s = shake.take(read(shake.bytes_needed())); !s.ok()) return s;
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
#include "core/crypto/setup_keys.h"
#include "core/crypto/sub_key.h"
#include "core/flow/frame.h"

namespace cableway {

// One frame being received: the header, the body whose length it gives, and the seal of both.
class FrameIntake {
 public:
  enum class Part : std::uint8_t { kHeader, kBody, kSeal, kWhole };

  Part part() const { return part_; }
  // The number of bytes that the current part needs. 0: the frame is complete.
  std::size_t bytes_needed() const;
  // Requires bytes_needed() bytes. The body, if any, follows the header; then expect_seal() or the end.
  absl::Status take(std::span<const std::byte> bytes);
  // Requires a complete frame. Its seal is received next.
  void expect_seal() { part_ = Part::kSeal; }
  // A new frame is received next.
  void restart();

  const Frame& frame() const { return frame_; }
  std::span<const std::byte> body() const { return std::span(bytes_).subspan(kFrameHeaderBytes); }
  // Header and body, for their seal.
  std::span<const std::byte> bytes() const { return bytes_; }
  bool has_seal() const { return seal_.has_value(); }
  // The kind of the frame received as the seal, which may be another than kSeal; and whether it is the correct seal.
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
  // With a key (of KeyUse::kCircuitSetup), both ends prove that they have it. `challenge` is random.
  DialHandshake(std::optional<SubKey> key, const Challenge& challenge);

  // To be sent first; empty without a key.
  std::vector<std::byte> begin() const;
  // Whether open() may be called now.
  bool may_open() const { return stage_ == Stage::kMayOpen; }
  // `frame` is the set-up or the probe, header and body; `answer` the kind of the frame that answers it, unless it is
  // kFailed. Returns the bytes to send.
  std::vector<std::byte> open(std::vector<std::byte> frame, FrameKind answer = FrameKind::kSetupOk);
  bool answered() const { return stage_ == Stage::kAnswered; }

  // The number of bytes that take() needs next. 0: the handshake waits for open(), or is over.
  std::size_t bytes_needed() const;
  // A status other than OK is final. received_failure(), or refused_for_room() for scope kBusy: the peer refused; the
  // message and the scope are the peer's, authenticated if there is a key. All others were found by this end.
  absl::Status take(std::span<const std::byte> bytes);
  // The connection ended before bytes_needed() bytes arrived, for the reason `why`. Returns the resulting status.
  absl::Status ended(absl::string_view why) const;

  // Requires answered(): the frame set-up-ok, or document.
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
  FrameKind expected_ = FrameKind::kSetupOk;
  FrameIntake intake_;
  std::optional<CircuitSeal> seal_;  // once both challenges are known
};

class AcceptHandshake {
 public:
  // With keys, the dialer must have one of them, and this end proves that it has the dialer's. Without a key, the
  // dialer must have none.
  AcceptHandshake(SetupKeys keys, const Challenge& challenge);

  // To be sent first; empty without a key.
  std::vector<std::byte> begin() const;
  bool opened() const { return opened_; }

  // As DialHandshake's. PermissionDenied: this end does not have the dialer's key.
  std::size_t bytes_needed() const { return opened_ ? 0 : intake_.bytes_needed(); }
  absl::Status take(std::span<const std::byte> bytes);
  absl::Status ended(absl::string_view why) const;

  // Requires opened(): the set-up or the probe, authenticated if there is a key.
  const Frame& opening() const { return intake_.frame(); }
  std::span<const std::byte> opening_body() const { return intake_.body(); }
  // Seals the answer; none without a key, or before the dialer has proven that it has one.
  std::optional<CircuitSeal> release_seal() { return std::move(seal_); }

 private:
  absl::Status take_header();
  absl::Status take_seal();

  const SetupKeys keys_;
  const Challenge challenge_;
  FrameIntake intake_;
  std::optional<Challenge> of_dialer_;
  std::optional<CircuitSeal> seal_;  // once opened, with the dialer's key
  bool opened_ = false;
};

// Whether the peer, or a node beyond it, has refused because it has no room now (FailureScope::kBusy). A fault of this
// end is never that, whatever its code.
bool refused_for_room(const absl::Status& status);

// Why a set-up was refused, or has failed here: kOther, unless the status came from with_cause() or, authenticated if
// there is a key, from the peer.
absl::Status with_cause(absl::Status status, RefusalCause cause);
RefusalCause cause_of(const absl::Status& status);

// A frame `failed` with the reason, truncated to kMaxFailureText, as the answer to a set-up or a probe.
std::vector<std::byte> refusal(absl::string_view reason, FailureScope scope, std::optional<CircuitSeal>& seal,
                               RefusalCause cause = RefusalCause::kOther);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_HANDSHAKE_H_
