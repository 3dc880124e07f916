#include "core/flow/flow_sender.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

// The maximum of a flow's chunks that are in flight, in limbo or waiting to be sent again.
constexpr std::size_t kMaxOutstanding = ResendRanges::kMax - 1;
// No chunk is sent while kMaxLimbo circuits are in limbo, and at most kMaxLive are live or being set up. So at most
// seven circuits are ever in limbo, and one slot is left for the circuit that brings the counts.
constexpr std::ptrdiff_t kMaxLimbo = 3;
constexpr std::ptrdiff_t kMaxLive = 5;

}  // namespace

void FlowSender::Circuit::open(FlowSender& flow, ChunkLink& link, std::string where, std::uint32_t chunk_bytes) {
  flow_ = &flow;
  link_ = &link;
  where_ = std::move(where);
  chunk_bytes_ = chunk_bytes;
  state = State::kLive;
  bundle = 0;
  is_alternate = closed_ahead = false;
  proven = 0;
  announced_from.reset();
  gate = PortGate{};
  gate_seen = doubted = Instant{};
  port_load = own_load = ByteRate{};
  load_ahead = 0;
  rate = CircuitRate{};
  retiring = 0;
  polls = QuietPolls{};
  given.begin();
}

void FlowSender::Circuit::close(const absl::Status& reason) {
  retiring = generation;
  end_hop(*link_, where_, reason);
  completed_ = sent_;
}

void FlowSender::Circuit::send(const Frame& chunk, SendBuffer payload) {
  ++sent_;
  link_->send(chunk, payload);
}

absl::Status FlowSender::Circuit::on_control(const Frame& control) {
  // One read may bring frames after the one that ended this circuit.
  if (!live()) return absl::CancelledError("the circuit has ended");
  return flow_->take_control(*this, control);
}

void FlowSender::Circuit::on_sent(Slot*) {
  if (completed_ < sent_) ++completed_;  // a circuit that has ended counts all chunks as completed
}

absl::Status FlowSender::Circuit::on_landed(const Frame&) {
  return flow_->violation("peer sent data to a sender");
}

absl::Status FlowSender::Circuit::on_chunk(const Frame&, Slot&) {
  return flow_->violation("peer sent data to a sender");
}

FlowSender::FlowSender(ChunkLink& first_hop, std::uint32_t chunk_bytes) : ends_with_its_circuit_(true) {
  join(*reserve(), first_hop, "", chunk_bytes).IgnoreError();  // the first circuit can always join
}

std::optional<CircuitName> FlowSender::reserve() {
  const auto in_use = [](const Circuit& circuit) { return circuit.state != Circuit::State::kIdle; };
  if (std::count_if(used().begin(), used().end(), in_use) >= kMaxLive) return std::nullopt;
  for (Circuit& circuit : circuits_) {
    if (circuit.state != Circuit::State::kIdle || circuit.in_limbo()) continue;
    const std::size_t slot = slot_of(circuit);
    used_ = std::max(used_, slot + 1);
    circuit.state = Circuit::State::kReserved;
    ++named_;
    return CircuitName{static_cast<std::uint8_t>(slot), ++circuit.generation};
  }
  return std::nullopt;
}

void FlowSender::release(const CircuitName& reserved) {
  Circuit& circuit = circuits_[reserved.slot];
  if (std::exchange(circuit.state, Circuit::State::kIdle) == Circuit::State::kReserved) {
    // The circuit may have reached the receiver and be its primary.
    circuit.given.begin();
    circuit.retiring = circuit.generation;
    ask_all_for_counts();
  }
}

absl::Status FlowSender::join(const CircuitName& reserved, ChunkLink& first_hop, std::string where,
                              std::uint32_t chunk_bytes) {
  Circuit& circuit = circuits_[reserved.slot];
  if (circuit.state != Circuit::State::kReserved) {
    circuit.state = Circuit::State::kIdle;
    return absl::FailedPreconditionError("its destination has retired it");
  }
  traffic_.began(reserved);
  circuit.open(*this, first_hop, std::move(where), chunk_bytes);
  ++live_;
  ask_for_counts(circuit);
  return absl::OkStatus();
}

void FlowSender::stripe(const CircuitName& circuit, std::uint32_t bundle, CircuitShare share) {
  if (!is_live(circuit)) return;
  circuits_[circuit.slot].bundle = bundle;
  circuits_[circuit.slot].is_alternate = share == CircuitShare::kAlternate;
  choose_bundle();
}

void FlowSender::leaves_by(const CircuitName& circuit, EgressPort port) {
  if (is_live(circuit)) circuits_[circuit.slot].gate = PortGate(port);
}

void FlowSender::end_circuit(const CircuitName& circuit, const absl::Status& reason) {
  if (!is_live(circuit)) return;
  // Cancelled: the owner leaves the circuit without a fault.
  end(circuits_[circuit.slot], reason, absl::IsCancelled(reason) ? CircuitEndKind::kMoved : end_kind_of(reason));
}

bool FlowSender::is_live(const CircuitName& circuit) const {
  return circuits_[circuit.slot].live() && circuits_[circuit.slot].generation == circuit.generation;
}

absl::StatusOr<std::uint64_t> FlowSender::post(const FlowBuffer& buffer, std::uint64_t bytes) {
  if (bytes > kMaxMessageBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a message of ", bytes, " bytes; expected ", kMaxMessageBytes, " at most"));
  }
  Message& message = at(next_);
  message = Message{};
  message.buffer = buffer;
  message.bytes = bytes;
  const std::uint64_t sequence = next_++;
  if (bytes > striping_.small_message) {
    traffic_.posted_large(bytes);
    after_large_ = next_;
  }
  send_announced();
  if (absl::Status status = state(); !status.ok()) return status;
  return sequence;
}

bool FlowSender::done(std::uint64_t message) const {
  return message < oldest_ || finished(message);
}

bool FlowSender::finished(std::uint64_t message) const {
  if (message >= unacknowledged_) return false;
  for (std::size_t i = 0; i < used_; ++i) {
    if (circuits_[i].completed() < at(message).last_chunk[i]) return false;
  }
  return true;
}

absl::Status FlowSender::progress() {
  for (Circuit& circuit : used()) {
    if (circuit.live()) poll(circuit);
  }
  return finish_progress();
}

absl::Status FlowSender::progress_in_loop(Instant now) {
  const Duration pause = after_large_ > oldest_ ? QuietPolls::kPause : QuietPolls::kIdlePause;
  for (Circuit& circuit : used()) {
    if (!circuit.live()) continue;
    const bool is_primary = primary_ == slot_of(circuit);
    if (is_primary || circuit.polls.is_due(circuit.link().bytes_moved(), pause, now)) poll(circuit);
  }
  return finish_progress();
}

void FlowSender::poll(Circuit& circuit) {
  const absl::Status status = circuit.link().progress(circuit);
  circuit.unflushed = false;
  if (!status.ok()) end(circuit, status);
}

absl::Status FlowSender::finish_progress() {
  send_announced();
  flush_queued();
  retire_done();  // includes messages that a hop completed before it ended
  return state();
}

// Frames from one circuit, or its end, may have queued a frame on a circuit that was polled before it.
void FlowSender::flush_queued() {
  for (Circuit& circuit : used()) {
    if (!std::exchange(circuit.unflushed, false) || !circuit.live()) continue;
    if (absl::Status status = circuit.link().flush(circuit); !status.ok()) end(circuit, status);
  }
}

absl::Status FlowSender::state() const {
  if (!broken_.ok()) return broken_;
  return ends_with_its_circuit_ && live_ == 0 ? last_end_ : absl::OkStatus();
}

void FlowSender::end(Circuit& circuit, const absl::Status& reason, CircuitEndKind kind) {
  if (!circuit.live()) return;
  circuit.state = Circuit::State::kIdle;
  --live_;
  ++ended_;
  last_end_ = circuit.found(reason);
  note_end({static_cast<std::uint8_t>(slot_of(circuit)), circuit.generation}, kind, last_end_, !circuit.in_limbo());
  if (ends_with_its_circuit_) return;
  if (ends_flow(reason) && broken_.ok()) broken_ = reason;
  // If the flow itself is broken, the other end must not wait for another circuit.
  const bool over = !broken_.ok() && !ends_flow(reason);
  circuit.close(over ? received_failure(FailureScope::kFlow, last_end_.message()) : reason);
  const auto others = static_cast<std::uint8_t>(~(1U << slot_of(circuit)));
  for (Receive& receive : receives_) {
    receive.announced_on &= others;
    receive.by_primary &= others;
  }
  if ((bundled_ & ~others) != 0) ++shares_ended_;
  // Another circuit may join in this slot before there is a new primary.
  if (primary_ == slot_of(circuit)) primary_ = kMaxFlowCircuits;
  choose_bundle();
  ask_all_for_counts();
  // No memory is read any more, so messages that the other end acknowledged before it closed the flow are done.
  if (!ends_flow(broken_)) return;
  for (Circuit& other : used()) end(other, broken_);
}

void FlowSender::ask_all_for_counts() {
  for (Circuit& circuit : used()) {
    if (circuit.live()) ask_for_counts(circuit);
  }
}

void FlowSender::ask_for_counts(Circuit& circuit) {
  for (const Circuit& each : used()) {
    if (each.retiring == 0) continue;
    circuit.unflushed = true;
    const CircuitName ended{static_cast<std::uint8_t>(slot_of(each)), each.retiring};
    if (absl::Status status = circuit.link().send_control(retire_frame(ended)); !status.ok()) {
      return end(circuit, status);
    }
  }
}

void FlowSender::send_announced() {
  while (broken_.ok()) {
    const std::optional<Turn> turn = next_turn();
    if (!turn.has_value()) return;
    const std::uint64_t left = turn->range.end - turn->range.begin;
    const std::uint64_t bytes = std::min({left, turn->most, std::uint64_t{turn->circuit->chunk_bytes()}});
    if (!may_give(turn->range, bytes, turn->again)) return;
    if (turn->again) {
      again_.take_from_first(bytes);
      traffic_.repeated(bytes);
    } else {
      Message& message = at(turn->range.message);
      message.sent += bytes;
      message.begun = true;
      while (sending_ != next_ && at(sending_).begun && at(sending_).sent == at(sending_).bytes) ++sending_;
    }
    give(*turn->circuit, {turn->range.message, turn->range.begin, turn->range.begin + bytes});
  }
}

std::optional<FlowSender::Turn> FlowSender::next_turn() {
  const bool again = !again_.empty();
  if (!again && (sending_ == next_ || sending_ >= announced_)) return std::nullopt;
  const MessageRange range = again ? again_.first() : MessageRange{sending_, at(sending_).sent, at(sending_).bytes};
  if (const std::uint64_t capacity = receive_of(range.message).capacity; range.end > capacity) {
    broken_ = absl::OutOfRangeError(absl::StrCat("message ", range.message, " of ", range.end,
                                                 " bytes is larger than its receive of ", capacity, " bytes"));
    return std::nullopt;
  }
  const Instant time = bundled_ == 0 ? Instant{} : now();
  const std::uint8_t shared_among = stripes(range.message, time);
  Circuit* const circuit = shared_among == 0 ? carrier(range.message) : earliest(shared_among, time);
  const std::uint64_t most = shared_among == 0 ? kMaxChunkBytes : striping_.chunk_bytes;
  if (circuit != nullptr) return Turn{range, circuit, most, again};
  return again || bundled_ == 0 ? std::nullopt : later_turn(time);
}

FlowSender::Circuit* FlowSender::carrier(std::uint64_t message) {
  const Receive& receive = receive_of(message);
  if ((receive.by_primary & (1U << primary_)) != 0) {
    return circuits_[primary_].can_send() ? &circuits_[primary_] : nullptr;
  }
  // The previous primary's announcements may arrive after those of the present one. A receive announced on an
  // alternate that is not the primary waits, since the alternate's gate may be closed.
  for (Circuit& circuit : used()) {
    const std::uint8_t announced = competes(circuit) ? receive.announced_on : receive.by_primary;
    if ((announced & (1U << slot_of(circuit))) != 0 && circuit.can_send()) return &circuit;
  }
  return nullptr;
}

bool FlowSender::may_give(const MessageRange& range, std::uint64_t bytes, bool again) const {
  if (ends_with_its_circuit_) return true;  // nothing is sent again on such a flow
  const auto in_limbo = [](const Circuit& circuit) { return circuit.in_limbo(); };
  if (std::count_if(used().begin(), used().end(), in_limbo) >= kMaxLimbo) return false;
  if (!again) return outstanding() < kMaxOutstanding;
  const bool whole = bytes == range.end - range.begin;
  return whole || outstanding() <= kMaxOutstanding;
}

std::size_t FlowSender::outstanding() const {
  std::size_t chunks = again_.size();
  for (const Circuit& circuit : used()) chunks += circuit.given.size();
  return chunks;
}

void FlowSender::give(Circuit& circuit, const MessageRange& chunk) {
  Message& message = at(chunk.message);
  const std::size_t slot = slot_of(circuit);
  message.last_chunk[slot] = circuit.sent() + 1;
  traffic_.carried({static_cast<std::uint8_t>(slot), circuit.generation}, chunk.end - chunk.begin);
  const auto payload = static_cast<std::uint32_t>(chunk.end - chunk.begin);
  if (clock_ != nullptr) note_given(circuit, payload);
  if (!ends_with_its_circuit_) circuit.given.add(chunk);
  circuit.send(Frame{FrameKind::kChunk, payload, chunk.message, chunk.begin, message.bytes},
               message.buffer.at(chunk.begin, slot));
  if (absl::Status status = circuit.link().flush(circuit); !status.ok()) end(circuit, status);
}

void FlowSender::retire_done() {
  while (oldest_ < next_ && finished(oldest_)) ++oldest_;
}

absl::Status FlowSender::violation(absl::string_view what) {
  if (broken_.ok()) broken_ = absl::InvalidArgumentError(what);
  return broken_;
}

absl::Status FlowSender::take_control(Circuit& circuit, const Frame& control) {
  switch (control.kind) {
    case FrameKind::kAnnounce:
      return take_announcement(circuit, control);
    case FrameKind::kAck:
      return take_acknowledgement(control);
    case FrameKind::kLanded:
      return take_landed(circuit, control);
    case FrameKind::kRetired:
      return take_retired(circuit, control);
    case FrameKind::kGate:
      return take_gate(circuit, control);
    default:
      return violation(absl::StrCat("peer sent a frame ", to_text(control.kind), " to a sender"));
  }
}

absl::Status FlowSender::take_announcement(Circuit& circuit, const Frame& control) {
  const std::uint64_t message = control.message;
  if (control.offset == 2 && !circuit.announced_from.has_value()) circuit.announced_from = message;
  // A repetition after a change of the primary, or one that took a longer path. The message is done.
  if (message < unacknowledged_) return absl::OkStatus();
  Receive& receive = receive_of(message);
  const bool is_known = receive.number == message + 1;
  // On circuits other than the primary only large receives are announced, possibly before smaller ones that precede
  // them.
  const bool is_in_turn = message == announced_ || control.offset != 0;
  const bool is_new = !is_known && is_in_turn && message - unacknowledged_ < kMaxLandings;
  const bool is_repeated = is_known && control.size == receive.capacity && repeats_arrive();
  if (!is_new && !is_repeated) {
    return violation(absl::StrCat("peer announced receive ", message, " of ", control.size, " bytes, expected ",
                                  announced_, " with fewer than ", kMaxLandings, " unfinished"));
  }
  if (is_new) receive = Receive{message + 1, control.size, 0, 0};
  while (receive_of(announced_).number == announced_ + 1) ++announced_;
  receive.announced_on |= static_cast<std::uint8_t>(1U << slot_of(circuit));
  if (control.offset != 0) return absl::OkStatus();
  receive.by_primary |= static_cast<std::uint8_t>(1U << slot_of(circuit));
  primary_ = slot_of(circuit);
  if (bundle_ != circuit.bundle) {
    bundle_ = circuit.bundle;
    choose_bundle();
  }
  return absl::OkStatus();
}

absl::Status FlowSender::take_gate(Circuit& circuit, const Frame& control) {
  const bool closes = control.offset != 0;
  if (closes && !circuit.is_alternate) return violation("peer closed the gate of a circuit that is no alternate");
  circuit.load_ahead = std::min(control.size, kMaxBytesPerSecond);
  circuit.closed_ahead = closes;
  if (circuit.closed_ahead) circuit.proven = 0;
  return absl::OkStatus();
}

absl::Status FlowSender::take_acknowledgement(const Frame& control) {
  const std::uint64_t message = control.message;
  if (message < unacknowledged_ && repeats_arrive()) return absl::OkStatus();  // repeated on a new primary
  // All messages below sending_ have been given to circuits.
  const bool all_sent =
      message >= unacknowledged_ && message < sending_ && (again_.empty() || again_.first().message > message);
  if (!all_sent || control.size != at(message).bytes) {
    return violation(absl::StrCat("peer acknowledged ", control.size, " bytes of message ", message,
                                  ", which is not what was sent"));
  }
  // Updated before the next frame is handled: the same read may hold an announcement that reuses this place. The
  // receiver may reuse it as soon as it has acknowledged, even if the link has not completed the send yet.
  unacknowledged_ = message + 1;
  for (Circuit& circuit : used()) {
    const std::uint64_t before = circuit.given.bytes();
    circuit.given.landed_below(unacknowledged_);
    measure(circuit, before);
  }
  retire_done();
  return absl::OkStatus();
}

absl::Status FlowSender::take_landed(Circuit& circuit, const Frame& control) {
  const std::uint64_t before = circuit.given.bytes();
  const bool was_given = circuit.given.landed(control.message);
  measure(circuit, before);
  if (was_given) return absl::OkStatus();
  return violation(
      absl::StrCat("peer reports ", control.message, " chunks over a circuit that was given ", circuit.given.given()));
}

absl::Status FlowSender::take_retired(const Circuit& circuit, const Frame& control) {
  const CircuitName about = circuit_of(control);
  Circuit& retired = circuits_[about.slot];
  const bool is_own = &retired == &circuit && about.generation == circuit.generation;
  if (is_own || about.generation > retired.generation) {
    return violation(absl::StrCat("peer retired circuit ", about.slot, " of generation ", about.generation,
                                  ", which it cannot have retired"));
  }
  if (about.generation == retired.generation && retired.state == Circuit::State::kReserved) {
    retired.state = Circuit::State::kRetired;  // it may not join any more
    return absl::OkStatus();
  }
  // The circuit's link may hold the reason, which names the cause. The poll may bring `retired` of yet another
  // circuit.
  if (is_live(about) && !std::exchange(seeks_reason_, true)) {
    poll(retired);
    seeks_reason_ = false;
  }
  if (is_live(about)) {
    end(retired, absl::UnavailableError("the destination has retired it"), CircuitEndKind::kClosed);
  }
  if (retired.retiring != about.generation) return absl::OkStatus();  // a repetition
  retired.retiring = 0;
  bool fits = true;
  const std::uint64_t unknown = retired.given.bytes();
  std::uint64_t bytes_again = 0;
  const bool settled = retired.given.settle(control.message, [&](const MessageRange& chunk) {
    // The memory of an acknowledged message belongs to the application again.
    fits = fits && chunk.message >= unacknowledged_ && again_.add(chunk);
    bytes_again += chunk.end - chunk.begin;
  });
  counted_ += unknown - bytes_again;
  note_counted(about, bytes_again);
  if (settled && fits) return absl::OkStatus();
  return violation(
      absl::StrCat("peer counted ", control.message, " chunks over a circuit that was given ", retired.given.given()));
}

}  // namespace cableway
