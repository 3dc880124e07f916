#include "core/relay/relay_circuit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/circuit/hop_names.h"

namespace cableway {
namespace {

constexpr std::uint64_t kBytesPerTurn = 8U << 20;

}  // namespace

RelayCircuit::RelayCircuit(ChunkLink& upstream, ChunkLink& downstream, std::unique_ptr<Slot> floor, SlotPool& pool,
                           RelayNames names, RelayEgress egress)
    : upstream_(upstream),
      downstream_(downstream),
      names_(std::move(names)),
      floor_(std::move(floor)),
      pool_(pool),
      waiting_(1 + pool.max_per_circuit()),
      egress_(std::move(egress)),
      gate_(egress_.port),
      competes_(!egress_.is_alternate) {
  leased_.reserve(pool.max_per_circuit());
  parked_.reserve(pool.max_per_circuit());
  upstream_.post_slot(*floor_);
}

RelayCircuit::~RelayCircuit() {
  return_leases();
}

absl::StatusOr<bool> RelayCircuit::progress() {
  const std::uint64_t begin = bytes_moved();
  // Each side's progress can unblock the other: repeats until neither moves.
  for (std::uint64_t before = begin;; before = bytes_moved()) {
    if (absl::Status status = move_once(); !status.ok()) {
      end(status.message(), scope_of(status));
      return status;
    }
    const bool more_room = lease_if_needed();
    if (bytes_moved() == before && !more_room) return false;
    if (bytes_moved() - begin > kBytesPerTurn) return true;
  }
}

void RelayCircuit::end(absl::string_view reason, FailureScope scope) {
  upstream_.fail(reason, scope);
  downstream_.fail(reason, scope);
  return_leases();
}

std::vector<const Slot*> RelayCircuit::slots() const {
  std::vector<const Slot*> slots{floor_.get()};
  slots.insert(slots.end(), leased_.begin(), leased_.end());
  return slots;
}

// A source closes the circuits that it leaves. A connection that a relay has closed means that the relay has ended.
bool RelayCircuit::is_left(const absl::Status& status) const {
  return names_.upstream_is_source && absl::IsCancelled(status);
}

absl::Status RelayCircuit::move_once() {
  if (absl::Status status = upstream_.progress(from_upstream_); !status.ok()) {
    return found_at(names_.upstream,
                    is_left(status) ? absl::CancelledError(absl::StrCat(kPeerClosed, kPeerIsSource)) : status);
  }
  send_waiting();
  if (absl::Status status = downstream_.progress(from_downstream_); !status.ok()) {
    return found_at(names_.downstream, status);
  }
  if (!has_news()) return absl::OkStatus();
  if (absl::Status status = tell_gate(); !status.ok()) return found_at(names_.upstream, status);
  return absl::OkStatus();
}

bool RelayCircuit::lease_if_needed() {
  if (!offers_few() || leased_.size() == pool_.max_per_circuit() || giving_back_ || skips_leasing_) return false;
  Slot* slot = pool_.lease();
  if (slot == nullptr) {
    note_unmet();
    return false;
  }
  stop_waiting();
  if (leased_.empty()) {
    held_ticks_ = 0;
    upstream_.widen();
    downstream_.widen();
    floor_->widen();
  }
  leased_.push_back(slot);
  upstream_.post_slot(*slot);
  return true;
}

void RelayCircuit::note_unmet() {
  found_none_ = true;
  // A circuit that holds a lease does not count as waiting.
  if (waits_ || !leased_.empty()) return;
  waits_ = true;
  pool_.begin_waiting();
}

void RelayCircuit::stop_waiting() {
  if (waits_) pool_.end_waiting();
  waits_ = false;
}

void RelayCircuit::tick() {
  const bool idle = bytes_moved() == std::exchange(moved_at_tick_, bytes_moved());
  idle_ticks_ = idle ? idle_ticks_ + 1 : 0;
  skips_leasing_ = false;
  if (!std::exchange(found_none_, false)) stop_waiting();
  if (leases() == 0) return;
  ++held_ticks_;
  if (!giving_back_ && should_give_back()) begin_giving_back();
  if (!giving_back_) return;
  if (returning_ticks_++ == kReturnTicks) pool_.end_returning(std::exchange(promised_, 0));
  give_back();
}

bool RelayCircuit::should_give_back() const {
  // A stalled chunk would delay the return anyway, and needs its slot when it moves on.
  const bool empty = in_use_ == 0;
  if (empty && idle_ticks_ >= kIdleTicks) return true;
  return pool_.wanted() && (held_ticks_ >= kHeldTicks || (empty && idle_ticks_ > 0));
}

void RelayCircuit::begin_giving_back() {
  giving_back_ = true;
  returning_ticks_ = 0;
  promised_ = leases();
  pool_.begin_returning(promised_);
}

void RelayCircuit::give_back() {
  for (std::size_t i = leased_.size(); i-- > 0;) {
    if (!upstream_.withdraw_slot(*leased_[i])) continue;
    parked_.push_back(leased_[i]);
    leased_.erase(leased_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  // Sends the recalls now, since no other event may wake this circuit for a long time. progress() reports a broken
  // hop as well.
  upstream_.flush(from_upstream_).IgnoreError();
  // Narrows both at once, so that their queues drain at the same time.
  const bool upstream_narrow = upstream_.narrow();
  const bool downstream_narrow = downstream_.narrow();
  const bool floor_narrow = floor_->narrow();
  if (!leased_.empty() || !upstream_narrow || !downstream_narrow || !floor_narrow) return;
  skips_leasing_ = pool_.anyone_waits();
  return_leases();
}

void RelayCircuit::return_leases() {
  stop_waiting();
  giving_back_ = false;
  pool_.end_returning(std::exchange(promised_, 0));
  for (Slot* slot : leased_) pool_.give_back(*slot);
  for (Slot* slot : parked_) pool_.give_back(*slot);
  leased_.clear();
  parked_.clear();
}

void RelayCircuit::send_waiting() {
  while (waiting_first_ != waiting_end_ && downstream_.can_send()) {
    const Waiting& next = waiting_[waiting_first_ % waiting_.size()];
    ++waiting_first_;
    note_leaving();
    downstream_.send(next.chunk, *next.slot);
  }
}

bool RelayCircuit::is_gate_closed(Instant now) {
  return !gate_.is_open(now, egress_.load == nullptr ? Instant{} : egress_.load->busy_until());
}

void RelayCircuit::note_leaving() {
  if (egress_.now == nullptr) return;
  const Instant now = *egress_.now;
  if (sending_++ == 0) leaving_since_ = now;
  if (competes_) return egress_.port.use(now, chunk_time_);
  is_closed_ = is_gate_closed(now);
}

void RelayCircuit::look_at_load() {
  if (egress_.now == nullptr) return;
  const Instant now = *egress_.now;
  if (egress_.port.is_known() && load_.is_due(now)) load_.measure(now, egress_.port.bytes());
}

void RelayCircuit::note_left() {
  if (egress_.now == nullptr) return;
  const Instant now = *egress_.now;
  chunk_time_ = now - std::exchange(leaving_since_, now);
  --sending_;
  if (competes_) egress_.port.use(now, chunk_time_);
}

void RelayCircuit::look_at_gate() {
  is_closed_ = !competes_ && is_gate_closed(*egress_.now);
}

absl::Status RelayCircuit::tell_gate() {
  told_closed_ = is_closed();
  told_load_ = load();
  chunks_at_news_ = chunks_;
  if (absl::Status status = upstream_.send_control(gate_frame(told_closed_, told_load_)); !status.ok()) return status;
  return upstream_.flush(from_upstream_);
}

// A load change of at most an eighth is not reported. A source to which nothing was relayed since the last report may
// not be reading, so it gets no load. The source of an alternate does read, since its flow has other circuits, unless
// its process is stalled; so no load is reported while another frame waits.
bool RelayCircuit::is_worth_telling() const {
  if (is_closed() != told_closed_) return true;
  if (upstream_.has_queued_controls()) return false;
  const std::uint64_t now = load();
  const std::uint64_t change = now > told_load_ ? now - told_load_ : told_load_ - now;
  return change > std::max(now, told_load_) / 8 && (egress_.is_alternate || chunks_ != chunks_at_news_);
}

void RelayCircuit::take_back(Slot& slot) {
  const auto leased = std::find(leased_.begin(), leased_.end(), &slot);
  if (!giving_back_ || leased == leased_.end()) return upstream_.post_slot(slot);
  leased_.erase(leased);
  parked_.push_back(&slot);
}

absl::Status RelayCircuit::Upstream::on_chunk(const Frame& chunk, Slot& slot) {
  RelayCircuit& circuit = circuit_;
  ++circuit.in_use_;
  circuit.waiting_[circuit.waiting_end_ % circuit.waiting_.size()] = Waiting{chunk, &slot};
  ++circuit.waiting_end_;
  circuit.send_waiting();
  return absl::OkStatus();
}

absl::Status RelayCircuit::Upstream::on_landed(const Frame&) {
  return absl::InternalError("a relay posts no landings");
}

absl::Status RelayCircuit::Upstream::on_control(const Frame& control) {
  if (goes_downstream(control.kind)) return circuit_.downstream_.send_control(control);
  return absl::InvalidArgumentError(absl::StrCat("a frame ", to_text(control.kind), " came from upstream"));
}

absl::Status RelayCircuit::Downstream::on_control(const Frame& control) {
  if (control.kind == FrameKind::kGate && (control.offset == 0 || circuit_.egress_.is_alternate)) {
    circuit_.closed_ahead_ = control.offset != 0;
    circuit_.load_ahead_ = std::min(control.size, kMaxBytesPerSecond);
    return absl::OkStatus();
  }
  if (control.kind == FrameKind::kAnnounce && circuit_.egress_.is_alternate) circuit_.competes_ = control.offset == 0;
  const bool may_pass = !goes_downstream(control.kind) && control.kind != FrameKind::kGate;
  if (may_pass) return circuit_.upstream_.send_control(control);
  return absl::InvalidArgumentError(absl::StrCat("a frame ", to_text(control.kind), " came from downstream"));
}

absl::Status RelayCircuit::Downstream::on_landed(const Frame&) {
  return absl::InternalError("a relay posts no landings");
}

absl::Status RelayCircuit::Downstream::on_chunk(const Frame&, Slot&) {
  return absl::InvalidArgumentError("a chunk came from downstream");
}

void RelayCircuit::Downstream::on_sent(Slot* slot) {
  RelayCircuit& circuit = circuit_;
  circuit.note_left();
  --circuit.in_use_;
  ++circuit.chunks_;
  circuit.bytes_ += slot->drained;
  if (circuit.competes_) circuit.egress_.port.count(slot->drained);
  circuit.take_back(*slot);
  circuit.send_waiting();
}

}  // namespace cableway
