#include "core/flow/flow_receiver.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

// The number of chunks that land over a circuit before the sender is informed, unless an acknowledgement covers them.
// A fraction of the chunks that a sender gives to a circuit and remembers (given_chunks.h).
constexpr std::uint64_t kLandedReportEvery = 16;
// The same where the sender shares chunks among circuits. With rarer reports the sender would mistake an idle slow
// circuit for a busy one.
constexpr std::uint64_t kStripedReportEvery = 1;

static_assert(kMaxLandings <= 32, "landings are bits of a 32-bit word");

}  // namespace

void FlowReceiver::Circuit::open(FlowReceiver& flow, ChunkLink& link, std::uint32_t its_generation) {
  flow_ = &flow;
  link_ = &link;
  generation = its_generation;
  live = true;
  bundle = 0;
  counted = reported = newest = acknowledged = 0;
  announced_beside = false;
  landings = 0;
  polls = QuietPolls{};
}

absl::Status FlowReceiver::Circuit::on_landed(const Frame& chunk) {
  // One read may bring chunks after the frame that ended this circuit; they no longer count.
  if (!live) return absl::CancelledError("the circuit has ended");
  return flow_->take_landed(*this, chunk);
}

absl::Status FlowReceiver::Circuit::on_chunk(const Frame&, Slot&) {
  return absl::InternalError("a receiver posts no slots");
}

absl::Status FlowReceiver::Circuit::on_control(const Frame& control) {
  if (!live) return absl::CancelledError("the circuit has ended");
  return flow_->take_control(*this, control);
}

FlowReceiver::FlowReceiver(ChunkLink& last_hop) : ends_with_its_circuit_(true) {
  join({0, 1}, last_hop, "").IgnoreError();  // the first circuit can always join
}

bool FlowReceiver::may_join(const CircuitName& circuit) const {
  return circuit.generation > circuits_[circuit.slot].generation;
}

absl::Status FlowReceiver::join(const CircuitName& circuit, ChunkLink& last_hop, std::string where) {
  Circuit& joining = circuits_[circuit.slot];
  if (!may_join(circuit)) {
    return absl::FailedPreconditionError(absl::StrCat("circuit ", circuit.slot, " of generation ", circuit.generation,
                                                      " comes after generation ", joining.generation));
  }
  used_ = std::max<std::size_t>(used_, circuit.slot + 1U);
  end(joining, absl::UnavailableError("its source has replaced it"), CircuitEndKind::kClosed);
  joining.open(*this, last_hop, circuit.generation);
  joining.where = std::move(where);
  ++live_;
  ++joined_;
  traffic_.began(circuit);
  for (const Circuit& ended : used()) {
    if (!ended.live && ended.generation > 0) tell_count(joining, ended);
  }
  if (!primary_.has_value() && joining.live) make_primary(joining);
  return absl::OkStatus();
}

void FlowReceiver::stripe(const CircuitName& circuit, std::uint32_t bundle, CircuitShare /*share*/) {
  if (!is_live(circuit)) return;
  Circuit& striped = circuits_[circuit.slot];
  striped.bundle = bundle;
  if (primary_ == circuit.slot) bundle_ = bundle;
  choose_bundle();
  if (primary_ != circuit.slot && carries(striped)) announce_all(striped);
}

void FlowReceiver::end_circuit(const CircuitName& circuit, const absl::Status& reason) {
  if (is_live(circuit)) end(circuits_[circuit.slot], reason);
}

void FlowReceiver::prefer(const CircuitName& circuit) {
  if (is_live(circuit) && primary_ != circuit.slot) make_primary(circuits_[circuit.slot]);
}

bool FlowReceiver::is_live(const CircuitName& circuit) const {
  return circuits_[circuit.slot].live && circuits_[circuit.slot].generation == circuit.generation;
}

absl::StatusOr<std::uint64_t> FlowReceiver::post(const FlowLanding& landing) {
  at(next_) = Message{};
  at(next_).landing = landing;
  const std::uint64_t sequence = next_++;
  if (landing.capacity > small_message_) after_large_ = next_;
  for (Circuit& circuit : used()) {
    if (primary_ != slot_of(circuit) && is_announced_on(circuit, sequence)) announce(circuit, sequence);
  }
  if (primary_.has_value()) announce(circuits_[*primary_], sequence);
  // Flushes at once: the source may be waiting for the announcement.
  flush_queued();
  if (absl::Status status = state(); !status.ok()) return status;
  return sequence;
}

absl::Status FlowReceiver::progress() {
  for (Circuit& circuit : used()) {
    if (circuit.live) poll(circuit);
  }
  return finish_progress();
}

absl::Status FlowReceiver::progress_in_loop(Instant now) {
  const Duration pause = after_large_ > oldest_ ? QuietPolls::kPause : QuietPolls::kIdlePause;
  for (Circuit& circuit : used()) {
    if (!circuit.live) continue;
    const bool is_primary = primary_ == slot_of(circuit);
    if (is_primary || circuit.polls.is_due(circuit.link().bytes_moved(), pause, now)) poll(circuit);
  }
  return finish_progress();
}

void FlowReceiver::poll(Circuit& circuit) {
  const absl::Status status = circuit.link().progress(circuit);
  circuit.unflushed = false;
  if (!status.ok()) end(circuit, status);
}

absl::Status FlowReceiver::finish_progress() {
  if (std::exchange(reports_all_, false)) report_all();
  flush_queued();
  return state();
}

// Frames from one circuit may have queued a frame on a circuit that was polled before it. After the last
// acknowledgement the application has no reason to make progress again, so queued frames are flushed here.
void FlowReceiver::flush_queued() {
  for (Circuit& circuit : used()) {
    if (!std::exchange(circuit.unflushed, false) || !circuit.live) continue;
    if (absl::Status status = circuit.link().flush(circuit); !status.ok()) end(circuit, status);
  }
}

absl::Status FlowReceiver::state() const {
  if (!broken_.ok()) return broken_;
  return ends_with_its_circuit_ && live_ == 0 ? last_end_ : absl::OkStatus();
}

void FlowReceiver::end(Circuit& circuit, const absl::Status& reason, CircuitEndKind kind) {
  if (!std::exchange(circuit.live, false)) return;
  --live_;
  ++ended_;
  last_end_ = found_at(circuit.where, reason);
  note_end({static_cast<std::uint8_t>(slot_of(circuit)), circuit.generation}, kind, last_end_, true);
  if (ends_with_its_circuit_) return;
  resent_below_ = next_;
  if (ends_flow(reason) && broken_.ok()) broken_ = reason;
  // If the flow itself is broken, the other end must not wait for another circuit.
  const bool over = !broken_.ok() && !ends_flow(reason);
  // Fences first, which freezes the count, then reports the count.
  end_hop(circuit.link(), circuit.where, over ? received_failure(FailureScope::kFlow, last_end_.message()) : reason);
  for (Circuit& other : used()) {
    if (other.live) tell_count(other, circuit);
  }
  choose_bundle();
  if (primary_ == slot_of(circuit)) choose_primary();
}

void FlowReceiver::send(Circuit& circuit, const Frame& control) {
  if (!circuit.live) return;
  circuit.unflushed = true;
  if (absl::Status status = circuit.link().send_control(control); !status.ok()) end(circuit, status);
}

void FlowReceiver::tell_count(Circuit& circuit, const Circuit& ended) {
  send(circuit, retired_frame({static_cast<std::uint8_t>(slot_of(ended)), ended.generation}, ended.counted));
}

void FlowReceiver::announce(Circuit& circuit, std::uint64_t message) {
  if (!circuit.live) return;
  const FlowLanding& landing = at(message).landing;
  // Posts the landing before it announces it: data may arrive at once.
  if ((circuit.landings & bit(message)) == 0) {
    circuit.landings |= bit(message);
    if (absl::Status status = circuit.link().post_landing(message, landing.on(slot_of(circuit))); !status.ok()) {
      return end(circuit, status);
    }
  }
  const bool is_beside = primary_ != slot_of(circuit);
  // Once the circuit is no longer the primary, it needs another announcement beside the primary, which informs its
  // relays.
  if (!is_beside) circuit.announced_beside = false;
  const bool once = is_beside && !circuit.link().needs_announcements();
  if (once && std::exchange(circuit.announced_beside, true)) return;
  // An announcement may reuse the place of an acknowledged message, and the acknowledgement over the primary may
  // arrive later than this announcement.
  if (circuit.acknowledged < oldest_) acknowledge(circuit);
  const std::uint64_t as = once ? 2 : is_beside ? 1 : 0;
  send(circuit, Frame{FrameKind::kAnnounce, 0, message, as, landing.capacity});
}

void FlowReceiver::acknowledge(Circuit& circuit) {
  circuit.acknowledged = oldest_;
  send(circuit, Frame{FrameKind::kAck, 0, oldest_ - 1, 0, last_size_});
}

void FlowReceiver::choose_primary() {
  primary_.reset();
  const auto live = [](const Circuit& circuit) { return circuit.live; };
  const auto next = std::find_if(used().begin(), used().end(), live);
  if (next != used().end()) make_primary(*next);
}

void FlowReceiver::make_primary(Circuit& circuit) {
  primary_ = slot_of(circuit);
  if (std::exchange(bundle_, circuit.bundle) != circuit.bundle) {
    choose_bundle();
    // Announces on the other circuits first: the source may use them as soon as the primary announces.
    for (Circuit& other : used()) {
      if (&other != &circuit && carries(other)) announce_all(other);
    }
  }
  if (primary_ == slot_of(circuit)) announce_all(circuit);
}

void FlowReceiver::announce_all(Circuit& circuit) {
  // The previous acknowledgement may have been lost with the previous primary.
  if (oldest_ > 0) acknowledge(circuit);
  for (std::uint64_t message = oldest_; message < next_ && circuit.live; ++message) {
    if (!at(message).whole && is_announced_on(circuit, message)) announce(circuit, message);
  }
}

bool FlowReceiver::is_announced_on(const Circuit& circuit, std::uint64_t message) const {
  return carries(circuit) && (primary_ == slot_of(circuit) || at(message).landing.capacity > small_message_);
}

bool FlowReceiver::carries(const Circuit& circuit) const {
  return circuit.live && (primary_ == slot_of(circuit) || (stripes_ && circuit.bundle == bundle_));
}

void FlowReceiver::choose_bundle() {
  const auto is_member = [&](const Circuit& circuit) { return circuit.live && circuit.bundle == bundle_; };
  stripes_ = bundle_ != 0 && std::count_if(used().begin(), used().end(), is_member) > 1;
}

absl::Status FlowReceiver::violation(absl::string_view what) {
  if (broken_.ok()) broken_ = absl::InvalidArgumentError(what);
  return broken_;
}

absl::Status FlowReceiver::take_landed(Circuit& circuit, const Frame& chunk) {
  const bool posted = chunk.message >= oldest_ && chunk.message < next_;
  Message& message = at(chunk.message);
  const bool fits = posted && !message.whole && chunk.size <= message.landing.capacity &&
                    (!message.begun || chunk.size == message.size) &&
                    // A circuit keeps its chunks in order, so with a single circuit the next chunk begins where the
                    // previous one ended.
                    (joined_ > 1 || chunk.offset == message.landed.prefix());
  if (!fits || message.landed.add(chunk.offset, chunk.offset + chunk.payload, islands_) != LandedRanges::Added::kNew) {
    return violation(absl::StrCat("chunk at ", chunk.offset, " of message ", chunk.message, " (", chunk.size,
                                  " bytes) is not the one expected"));
  }
  ++circuit.counted;
  traffic_.carried({static_cast<std::uint8_t>(slot_of(circuit)), circuit.generation}, chunk.payload);
  circuit.newest = std::max(circuit.newest, chunk.message);
  message.begun = true;
  message.size = chunk.size;
  if (message.landed.prefix() == message.size) {
    message.whole = true;
    end_landing(chunk.message);
    if (chunk.message == oldest_) finish_whole();
  }
  return report(circuit);
}

absl::Status FlowReceiver::report(Circuit& circuit) {
  if (!circuit.live || ends_with_its_circuit_) return absl::OkStatus();
  if (oldest_ < resent_below_) reports_all_ = true;
  if (circuit.counted - circuit.reported < (circuit.bundle != 0 ? kStripedReportEvery : kLandedReportEvery)) {
    return absl::OkStatus();
  }
  circuit.reported = circuit.counted;
  return circuit.link().send_control(Frame{FrameKind::kLanded, 0, circuit.counted, 0, 0});
}

// The sender may have so many ranges to send again that it sends one more chunk only after it learns that another has
// landed.
void FlowReceiver::report_all() {
  for (Circuit& circuit : used()) {
    if (!circuit.live || circuit.counted == circuit.reported) continue;
    circuit.reported = circuit.counted;
    send(circuit, Frame{FrameKind::kLanded, 0, circuit.counted, 0, 0});
  }
}

void FlowReceiver::end_landing(std::uint64_t message) {
  for (Circuit& circuit : used()) {
    if ((circuit.landings & bit(message)) == 0) continue;
    circuit.landings &= ~bit(message);
    if (circuit.live) circuit.link().end_landing(message);
  }
}

// Messages complete and are acknowledged in order.
void FlowReceiver::finish_whole() {
  while (oldest_ < next_ && at(oldest_).whole) last_size_ = at(oldest_++).size;
  // Without a live circuit, the next primary gets the acknowledgement.
  for (Circuit& circuit : used()) {
    if (circuit.live && primary_ == slot_of(circuit)) acknowledge(circuit);
    if (circuit.newest < oldest_) circuit.reported = circuit.counted;
  }
}

absl::Status FlowReceiver::take_control(Circuit& circuit, const Frame& control) {
  if (control.kind == FrameKind::kRetire && !ends_with_its_circuit_) return take_retire(circuit, circuit_of(control));
  return violation(absl::StrCat("peer sent a frame ", to_text(control.kind), " to a receiver"));
}

absl::Status FlowReceiver::take_retire(Circuit& circuit, const CircuitName& retired) {
  Circuit& ended = circuits_[retired.slot];
  if (&ended == &circuit && retired.generation >= circuit.generation) {
    return violation("peer retired a circuit over that circuit");
  }
  if (retired.generation < ended.generation) return absl::OkStatus();  // known: the sender has reused the slot
  if (is_live(retired)) {
    // Reports the count on every live circuit.
    end(ended, absl::UnavailableError("its source has retired it"), CircuitEndKind::kClosed);
    return absl::OkStatus();
  }
  if (retired.generation > ended.generation) {
    // The retired circuit has not arrived, and must not join any more.
    end(ended, absl::UnavailableError("its source has replaced it"), CircuitEndKind::kClosed);
    used_ = std::max<std::size_t>(used_, retired.slot + 1U);
    ended.generation = retired.generation;
    ended.counted = 0;
  }
  tell_count(circuit, ended);
  return absl::OkStatus();
}

}  // namespace cableway
