#include "core/circuit/handshake.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "core/flow/chunk_link.h"
#include "core/printable.h"

namespace cableway {
namespace {

constexpr char kUnproven[] = "without a proof that it has this cluster's key";

// Tells a peer's lack of room from this end's, which has the same code.
constexpr char kRefusedForRoom[] = "cableway/refused-for-room";
constexpr char kRefusalCause[] = "cableway/refusal-cause";

absl::Status without_room(absl::string_view reason) {
  absl::Status status = absl::ResourceExhaustedError(reason);
  status.SetPayload(kRefusedForRoom, absl::Cord());
  return status;
}

std::vector<std::byte> challenge_bytes(const Challenge& challenge) {
  const FrameBytes frame = encode_challenge(challenge);
  return {frame.begin(), frame.end()};
}

std::string text_of(std::span<const std::byte> body) {
  return printable({reinterpret_cast<const char*>(body.data()), body.size()});
}

}  // namespace

std::size_t FrameIntake::bytes_needed() const {
  switch (part_) {
    case Part::kHeader:
    case Part::kSeal:
      return kFrameHeaderBytes;
    case Part::kBody:
      return frame_.payload;
    case Part::kWhole:
      return 0;
  }
  return 0;
}

absl::Status FrameIntake::take(std::span<const std::byte> bytes) {
  if (part_ == Part::kBody) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    part_ = Part::kWhole;
    return absl::OkStatus();
  }
  const absl::StatusOr<Frame> frame = decode_frame(bytes.first<kFrameHeaderBytes>());
  if (!frame.ok()) return frame.status();
  if (part_ == Part::kSeal) {
    seal_ = *frame;
    part_ = Part::kWhole;
    return absl::OkStatus();
  }
  frame_ = *frame;
  bytes_.assign(bytes.begin(), bytes.end());
  part_ = frame->payload > 0 ? Part::kBody : Part::kWhole;
  return absl::OkStatus();
}

void FrameIntake::restart() {
  part_ = Part::kHeader;
  seal_.reset();
}

bool FrameIntake::sealed_by(CircuitSeal& seal) const {
  return seal_ && seal_->kind == FrameKind::kSeal && seal.next_is(bytes_, sixteen_bytes_of(*seal_));
}

DialHandshake::DialHandshake(std::optional<SubKey> key, const Challenge& challenge)
    : key_(std::move(key)), challenge_(challenge), stage_(key_ ? Stage::kChallenge : Stage::kMayOpen) {}

std::vector<std::byte> DialHandshake::begin() const {
  return key_ ? challenge_bytes(challenge_) : std::vector<std::byte>();
}

std::vector<std::byte> DialHandshake::open(std::vector<std::byte> frame, FrameKind answer) {
  expected_ = answer;
  if (seal_) seal_->append_next(frame);
  stage_ = Stage::kAnswer;
  intake_.restart();
  return frame;
}

std::size_t DialHandshake::bytes_needed() const {
  return stage_ == Stage::kChallenge || stage_ == Stage::kAnswer ? intake_.bytes_needed() : 0;
}

absl::Status DialHandshake::take(std::span<const std::byte> bytes) {
  if (absl::Status status = intake_.take(bytes); !status.ok()) {
    if (intake_.part() != FrameIntake::Part::kSeal) return absl::UnavailableError(status.message());
    return intake_.frame().kind == FrameKind::kFailed ? refused(false) : unproven_acceptance();
  }
  return stage_ == Stage::kChallenge ? take_challenge() : take_answer();
}

absl::Status DialHandshake::take_challenge() {
  if (intake_.part() == FrameIntake::Part::kBody) {
    return intake_.frame().kind == FrameKind::kFailed ? absl::OkStatus() : unexpected();
  }
  if (intake_.frame().kind == FrameKind::kFailed) return refused(false);
  if (intake_.frame().kind != FrameKind::kChallenge) return unexpected();
  seal_.emplace(*key_, sixteen_bytes_of(intake_.frame()), challenge_);
  stage_ = Stage::kMayOpen;
  return absl::OkStatus();
}

// Called after each part of the answer: its header, its body, its seal.
absl::Status DialHandshake::take_answer() {
  const FrameKind kind = intake_.frame().kind;
  if (kind != FrameKind::kFailed && kind != expected_) return unexpected();
  if (intake_.part() == FrameIntake::Part::kBody) return absl::OkStatus();
  if (seal_ && !intake_.has_seal()) {
    intake_.expect_seal();
    return absl::OkStatus();
  }
  const bool proven = seal_ ? intake_.sealed_by(*seal_) : !key_;
  if (kind == FrameKind::kFailed) return refused(proven);
  if (!proven) return unproven_acceptance();
  stage_ = Stage::kAnswered;
  return absl::OkStatus();
}

absl::Status DialHandshake::unexpected() const {
  const bool has_key = intake_.frame().kind == FrameKind::kChallenge && !key_;
  return absl::UnavailableError(has_key ? absl::StrCat("it has a key, and this end has none: ", kSameKeyAdvice)
                                        : absl::StrCat("answered by a frame ", to_text(intake_.frame().kind)));
}

absl::Status DialHandshake::refused(bool proven) const {
  const std::string reason = text_of(intake_.body());
  if (proven && scope_of(intake_.frame()) == FailureScope::kBusy) return without_room(reason);
  if (proven) return with_cause(received_failure(scope_of(intake_.frame()), reason), cause_of(intake_.frame()));
  return absl::UnavailableError(absl::StrCat("refused ", kUnproven, ": ", reason));
}

absl::Status DialHandshake::unproven_acceptance() const {
  return absl::UnavailableError(absl::StrCat("accepted ", kUnproven));
}

absl::Status DialHandshake::ended(absl::string_view why) const {
  const bool refuses = intake_.frame().kind == FrameKind::kFailed;
  switch (intake_.part()) {
    case FrameIntake::Part::kBody:
      if (refuses)
        return absl::UnavailableError(absl::StrCat("refused, and closed before the reason was complete: ", why));
      break;
    case FrameIntake::Part::kSeal:
      return refuses ? refused(false) : unproven_acceptance();
    default:
      break;
  }
  return with_cause(absl::UnavailableError(absl::StrCat("no answer to the set-up: ", why)), RefusalCause::kSilence);
}

AcceptHandshake::AcceptHandshake(SetupKeys keys, const Challenge& challenge)
    : keys_(std::move(keys)), challenge_(challenge) {}

std::vector<std::byte> AcceptHandshake::begin() const {
  return keys_.empty() ? std::vector<std::byte>() : challenge_bytes(challenge_);
}

absl::Status AcceptHandshake::take(std::span<const std::byte> bytes) {
  const FrameIntake::Part part = intake_.part();
  if (absl::Status status = intake_.take(bytes); !status.ok()) return status;
  if (part == FrameIntake::Part::kSeal) return take_seal();
  if (part == FrameIntake::Part::kHeader) {
    if (absl::Status status = take_header(); !status.ok()) return status;
  }
  if (intake_.part() != FrameIntake::Part::kWhole) return absl::OkStatus();
  if (of_dialer_) {
    intake_.expect_seal();
  } else {
    opened_ = true;
  }
  return absl::OkStatus();
}

absl::Status AcceptHandshake::take_header() {
  const Frame& frame = intake_.frame();
  if (frame.kind == FrameKind::kChallenge && !of_dialer_) {
    if (keys_.empty()) {
      return absl::PermissionDeniedError(absl::StrCat("the sender has a key, and this end has none: ", kSameKeyAdvice));
    }
    of_dialer_ = sixteen_bytes_of(frame);
    intake_.restart();
    return absl::OkStatus();
  }
  if (frame.kind != FrameKind::kProbe && frame.kind != FrameKind::kSetup) {
    return absl::InvalidArgumentError(absl::StrCat("began with a frame ", to_text(frame.kind)));
  }
  if (keys_.empty() || of_dialer_) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("a ", to_text(frame.kind), " without a seal, and this end has a key: ", kSameKeyAdvice));
}

absl::Status AcceptHandshake::take_seal() {
  if (intake_.seal_kind() != FrameKind::kSeal) {
    return absl::InvalidArgumentError(absl::StrCat("a frame ", to_text(intake_.seal_kind()), " in place of a seal"));
  }
  for (const SubKey& key : keys_.accepted()) {
    CircuitSeal seal(key, challenge_, *of_dialer_);
    if (!intake_.sealed_by(seal)) continue;
    seal_.emplace(std::move(seal));
    opened_ = true;
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      absl::StrCat("the seal of the ", to_text(opening().kind),
                   " is wrong; it was modified, replayed, or made with another key: ", kSameKeyAdvice));
}

absl::Status AcceptHandshake::ended(absl::string_view why) const {
  const char* const when = intake_.part() == FrameIntake::Part::kHeader ? "before its set-up: "
                           : intake_.part() == FrameIntake::Part::kBody ? "within its set-up: "
                                                                        : "before its seal: ";
  return absl::UnavailableError(absl::StrCat("closed ", when, why));
}

bool refused_for_room(const absl::Status& status) {
  return status.GetPayload(kRefusedForRoom).has_value();
}

absl::Status with_cause(absl::Status status, RefusalCause cause) {
  if (cause != RefusalCause::kOther) {
    status.SetPayload(kRefusalCause, absl::Cord(std::string(1, static_cast<char>(cause))));
  }
  return status;
}

RefusalCause cause_of(const absl::Status& status) {
  const absl::optional<absl::Cord> cause = status.GetPayload(kRefusalCause);
  return cause.has_value() ? static_cast<RefusalCause>((*cause)[0]) : RefusalCause::kOther;
}

std::vector<std::byte> refusal(absl::string_view reason, FailureScope scope, std::optional<CircuitSeal>& seal,
                               RefusalCause cause) {
  reason = reason.substr(0, kMaxFailureText);
  const FrameBytes header = encode_frame(failed_frame(static_cast<std::uint32_t>(reason.size()), scope, cause));
  std::vector<std::byte> bytes(header.begin(), header.end());
  const auto text = std::as_bytes(std::span(reason.data(), reason.size()));
  bytes.insert(bytes.end(), text.begin(), text.end());
  if (seal) seal->append_next(bytes);
  return bytes;
}

}  // namespace cableway
