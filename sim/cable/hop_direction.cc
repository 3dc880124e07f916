#include "sim/cable/hop_direction.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flow/chunk_checksum.h"

namespace cableway::sim {

std::uint64_t WireFacts::wire_bytes(std::uint64_t bytes) const {
  return bytes + (bytes + packet_payload - 1) / packet_payload * packet_overhead;
}

HopDirection::HopDirection(VirtualClock& clock, const WireFacts& facts, const Stages& stages, Payload payload)
    : clock_(clock),
      facts_(facts),
      out_(*stages.out),
      use_(*stages.use),
      near_stages_(stages.near.size()),
      payload_(payload) {
  stages_.reserve(stages.near.size() + stages.far.size());
  for (const std::vector<Transmitter*>* side : {&stages.near, &stages.far}) {
    for (Transmitter* queue : *side) stages_.emplace_back(*this, *queue, stages_.size());
  }
  if (facts_.buffer_bytes > 0 && payload == Payload::kCounted) return;
  facts_.buffer_bytes = 0;
  facts_.queue_bytes = 0;
}

HopDirection::~HopDirection() {
  withdraw();
}

void HopDirection::withdraw() {
  out_.withdraw(*this);
  out_.withdraw(control_queue_);
  for (Stage& stage : stages_) stage.withdraw();
}

void HopDirection::set_users(LinkUser& sender, LinkUser& receiver) {
  sender_ = &sender;
  receiver_ = &receiver;
}

void HopDirection::wake_users() {
  sender_->wake();
  receiver_->wake();
}

// The lowest byte of an occurrence's argument is the kind of event, the rest is a count.
void HopDirection::schedule(Duration after, What what, std::uint64_t count) {
  ++scheduled_;
  clock_.schedule(clock_.now() + after, *this, what | count << 8);
}

void HopDirection::send(const Frame& chunk, const std::byte* memory, Slot* slot) {
  sending_ = Sending{chunk, memory, slot, false, nullptr};
  buffered_.push_back(chunk);
  buffered_bytes_ += kFrameHeaderBytes + chunk.payload;
  if (buffer_has_room()) schedule(Duration{0}, kCompletes);
  if (!window_closed_) fill_queue();
}

// One chunk is always admitted: a window smaller than a chunk slows the hop down but does not block it.
void HopDirection::fill_queue() {
  settle_returns();
  while (queue_has_room() && queued_ < buffered_.size()) {
    const std::uint64_t bytes = kFrameHeaderBytes + buffered_[queued_].payload;
    if (outstanding_ > 0 && outstanding_ + bytes > facts_.window_bytes) {
      window_closed_ = true;
      if (!returns_.empty()) schedule(returns_.front().when - clock_.now(), kWindowOpens);
      return;
    }
    window_closed_ = false;
    outstanding_ += bytes;
    ++queued_;
    queued_bytes_ += bytes;
    if (!silent_) out_.enqueue(*this);
  }
}

void HopDirection::settle_returns() {
  while (!returns_.empty() && returns_.front().when <= clock_.now()) {
    outstanding_ -= returns_.front().bytes;
    returns_.pop_front();
  }
}

void HopDirection::open_window(std::uint64_t bytes) {
  returns_.push_back(Return{clock_.now() + facts_.latency, bytes});
  // Only one chunk waits, so only the first return after it began to wait needs an event.
  if (window_closed_ && returns_.size() == 1) schedule(facts_.latency, kWindowOpens);
}

std::uint64_t HopDirection::begin_parcel() {
  return facts_.wire_bytes(kFrameHeaderBytes + buffered_.front().payload);
}

void HopDirection::parcel_left() {
  const Frame chunk = buffered_.front();
  buffered_.pop_front();
  buffered_bytes_ -= kFrameHeaderBytes + chunk.payload;
  --queued_;
  queued_bytes_ -= kFrameHeaderBytes + chunk.payload;
  count(chunk);
  Parcel parcel{chunk, nullptr};
  if (payload_ == Payload::kCarried && chunk.payload > 0) {
    // Copied when it leaves, not before: memory that the owner reuses too early is delivered corrupted, as on a real
    // wire.
    parcel.payload = std::make_unique_for_overwrite<std::byte[]>(chunk.payload);
    std::memcpy(parcel.payload.get(), sending_->memory, chunk.payload);
    if (completes_late_ > Duration{0}) {
      sending_->read = std::make_unique_for_overwrite<std::byte[]>(chunk.payload);
      std::memcpy(sending_->read.get(), parcel.payload.get(), chunk.payload);
    }
    // The checksum covers the bytes that leave, so that it does not hide memory that was reused too early.
    parcel.frame = with_checksum(chunk, parcel.payload.get());
    flip({parcel.payload.get(), chunk.payload});
  }
  in_flight_.push_back(std::move(parcel));
  enter_stage(0);
  if (completes_late_ > Duration{0}) return schedule(completes_late_, kCompletes);
  if (facts_.buffer_bytes == 0 || buffer_has_room()) complete();
  if (!window_closed_) fill_queue();
}

void HopDirection::flip(std::span<std::byte> payload) {
  if (flip_every_ == 0 || ++not_flipped_ < flip_every_) return;
  not_flipped_ = 0;
  constexpr std::uint64_t kStep = 7919;  // a prime: another place each time
  const std::uint64_t bit = ++flipped_ * kStep % (8 * payload.size());
  payload[bit / 8] ^= std::byte{1} << bit % 8;
}

void HopDirection::complete() {
  if (!sending_.has_value() || sending_->left) return;
  const Sending& sent = *sending_;
  if (sent.slot != nullptr) sent.slot->drained = sent.chunk.payload;
  if (sent.read != nullptr && std::memcmp(sent.read.get(), sent.memory, sent.chunk.payload) != 0) ++changed_too_early_;
  send_failed_ = send_failed_ || std::exchange(fails_next_, false);
  sending_->left = true;
  sender_->wake();
}

void HopDirection::count(const Frame& chunk) {
  use_.bytes += facts_.wire_bytes(kFrameHeaderBytes + chunk.payload);
  ++use_.chunks;
}

std::optional<Slot*> HopDirection::take_sent() {
  if (!sending_.has_value() || !sending_->left || send_failed_) return std::nullopt;
  bytes_sent_ += kFrameHeaderBytes + sending_->chunk.payload;
  return std::exchange(sending_, std::nullopt)->slot;
}

absl::Status HopDirection::send_control(const Frame& control) {
  if (controls_.size() >= kMaxQueuedControls) {
    return absl::ResourceExhaustedError("more control frames are waiting than the protocol allows");
  }
  controls_.push_back(control);
  if (!silent_) control_queue_.add();
  return absl::OkStatus();
}

void HopDirection::ControlQueue::add() {
  if (waiting_++ == 0 && leaving_ == 0) hop_.out_.enqueue(*this);
}

std::uint64_t HopDirection::ControlQueue::begin_parcel() {
  leaving_ = std::exchange(waiting_, 0);
  leaving_bytes_ = hop_.facts_.wire_bytes(static_cast<std::uint64_t>(leaving_) * kFrameHeaderBytes);
  return leaving_bytes_;
}

void HopDirection::ControlQueue::parcel_left() {
  hop_.use_.bytes += leaving_bytes_;
  hop_.schedule(hop_.facts_.latency, kControlsArrive, std::exchange(leaving_, 0));
  if (waiting_ > 0) return hop_.out_.enqueue(*this);
  if (std::exchange(hop_.end_waits_, false)) hop_.schedule(hop_.facts_.latency, kEndArrives);
}

void HopDirection::stop_sending() {
  out_.withdraw(*this);
  sending_.reset();
  outstanding_ -= queued_bytes_;
  buffered_.clear();
  buffered_bytes_ = 0;
  queued_ = 0;
  queued_bytes_ = 0;
  window_closed_ = false;
}

// Sent after the last acknowledgements.
void HopDirection::send_end(absl::Status reason) {
  end_ = std::move(reason);
  end_waits_ = control_queue_.busy();
  if (!end_waits_) schedule(facts_.latency, kEndArrives);
}

void HopDirection::occur(std::uint64_t argument) {
  --scheduled_;
  if (silent_) return;
  const auto what = static_cast<What>(argument & 0xff);
  // The chunk for which this was scheduled may already have completed when its predecessor left.
  if (what == kCompletes) return facts_.buffer_bytes == 0 || buffer_has_room() ? complete() : void();
  if (what == kWindowOpens) {
    if (window_closed_) fill_queue();
    return;
  }
  held_ ? held_arrivals_.push_back(argument) : arrive(argument);
}

void HopDirection::arrive(std::uint64_t argument) {
  const auto what = static_cast<What>(argument & 0xff);
  if (what == kReachesFarEnd) {
    --travelling_;
    if (near_stages_ < stages_.size()) return stages_[near_stages_].arrive();
    ++arrived_;
  }
  if (what == kControlsArrive) controls_arrived_ += argument >> 8;
  if (what == kEndArrives) ended_ = end_;
  receiver_->wake();
}

void HopDirection::hold(bool held) {
  held_ = held;
  if (held || silent_) return;
  // Runs at the current instant, after the current event.
  for (const std::uint64_t argument : std::exchange(held_arrivals_, {})) {
    schedule(Duration{0}, static_cast<What>(argument & 0xff), argument >> 8);
  }
}

absl::Status HopDirection::take_arrivals() {
  for (; controls_arrived_ > 0; --controls_arrived_) {
    inbox_.take_control(controls_.front());
    controls_.pop_front();
    bytes_taken_ += kFrameHeaderBytes;
  }
  for (; arrived_ > 0; --arrived_) {
    const Parcel& parcel = in_flight_.front();
    const absl::StatusOr<bool> taken = inbox_.take_chunk(parcel.frame, parcel.payload.get());
    if (!taken.ok()) return taken.status();
    if (!*taken) break;
    const std::uint64_t bytes = kFrameHeaderBytes + parcel.frame.payload;
    bytes_taken_ += bytes;
    in_flight_.pop_front();
    open_window(bytes);
  }
  return absl::OkStatus();
}

void HopDirection::silence() {
  silent_ = true;
  withdraw();
}

// A parcel has passed all stages before `place`. It crosses the cable before the first far stage.
void HopDirection::enter_stage(std::size_t place) {
  if (place == near_stages_) {
    ++travelling_;
    return schedule(facts_.latency, kReachesFarEnd);
  }
  if (place < stages_.size()) return stages_[place].arrive();
  ++arrived_;
  receiver_->wake();
}

// The frame of the first parcel that waits at a stage.
const Frame& HopDirection::first_at(std::size_t place) const {
  std::size_t before = arrived_ + (place < near_stages_ ? travelling_ : 0);
  for (std::size_t later = place + 1; later < stages_.size(); ++later) before += stages_[later].waiting();
  return in_flight_[before].frame;
}

std::uint64_t HopDirection::Stage::begin_parcel() {
  return hop_.facts_.wire_bytes(kFrameHeaderBytes + hop_.first_at(place_).payload);
}

void HopDirection::Stage::arrive() {
  if (waiting_++ == 0) queue_.enqueue(*this);
}

void HopDirection::Stage::parcel_left() {
  if (--waiting_ > 0) queue_.enqueue(*this);
  hop_.enter_stage(place_ + 1);
}

}  // namespace cableway::sim
