#include "sim/stub_rdma/rdma_wire.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"

namespace cableway::sim {
namespace {

constexpr std::uint32_t kWritesPerLag = 32;  // on average
constexpr unsigned kCountShift = 8;          // of an occurrence's argument: the lowest byte is the kind of event

}  // namespace

RdmaWire::~RdmaWire() {
  out_.withdraw(*this);
}

void RdmaWire::join(StubQueuePair& from, LinkUser& from_user, StubQueuePair& to, LinkUser& to_user) {
  from_ = &from;
  from_user_ = &from_user;
  to_ = &to;
  to_user_ = &to_user;
  from.set_mover(*this);
}

Instant RdmaWire::after_lag(Instant& last, Duration takes) {
  const auto max_lag = static_cast<std::uint32_t>(facts_.max_lag.count());
  if (max_lag > 0 && network_.choose(kWritesPerLag) == 0) takes += Duration(network_.choose(max_lag));
  last = std::max(last, clock_.now() + takes);
  return last;
}

void RdmaWire::on_posted(std::size_t writes) {
  const bool waits_already = queued_ > 0;
  queued_ += writes;
  outstanding_ += writes;
  look_for_stall();
  if (!waits_already && queued_ > 0) out_.enqueue(*this);
}

std::uint64_t RdmaWire::begin_parcel() {
  const std::uint64_t bytes = from_->bytes_in_flight(from_->writes_in_flight() - queued_);
  return bytes + (bytes + facts_.packet_payload - 1) / facts_.packet_payload * facts_.packet_overhead;
}

void RdmaWire::parcel_left() {
  --queued_;
  clock_.schedule(after_lag(last_landing_, facts_.latency), *this, kLands);
  if (queued_ > 0) out_.enqueue(*this);
}

void RdmaWire::occur(std::uint64_t argument) {
  switch (static_cast<What>(argument & ((1U << kCountShift) - 1))) {
    case kLands:
      return held_there_ ? void(++landings_held_) : land();
    case kLandsLate:
      return land_late();
    case kCompletes:
      return held_back_ ? void(++completions_held_) : complete();
    case kGivesUp:
      if (stalled_ && argument >> kCountShift == stalls_) give_up();
  }
}

void RdmaWire::land() {
  if (from_ == nullptr) return;
  if (from_->other_end_is_gone()) {
    unanswered_ = true;
    return look_for_stall();
  }
  // The acknowledgement is in flight from now on, even if its sender ends.
  if (from_->deliver()) clock_.schedule(after_lag(last_completion_, facts_.latency + late_), *this, kCompletes);
  wake_users();
}

// There is no retransmission: the write is lost if the cable does not carry.
void RdmaWire::land_late() {
  if (!held_there_ && to_->deliver_late()) wake_users();
}

void RdmaWire::complete() {
  if (from_ == nullptr || !from_->complete()) return;
  --outstanding_;
  look_for_stall();
  wake_users();
}

void RdmaWire::give_up() {
  from_->fail(absl::UnavailableError("transport retry counter exceeded: the other end does not answer"));
  wake_users();
}

void RdmaWire::look_for_stall() {
  const bool stalls = (held_there_ || held_back_ || unanswered_) && outstanding_ > 0;
  if (stalls == stalled_) return;
  stalled_ = stalls;
  ++stalls_;
  if (stalls) clock_.schedule(clock_.now() + facts_.gives_up_after, *this, kGivesUp | stalls_ << kCountShift);
}

void RdmaWire::wake_users() {
  if (to_->has_reports()) to_user_->wake();
  if (from_ != nullptr && from_->has_reports()) from_user_->wake();
}

void RdmaWire::hold(bool there, bool back) {
  held_there_ = there;
  held_back_ = back;
  look_for_stall();
  // Runs at the current instant, after the current event.
  if (!there) {
    for (std::size_t i = std::exchange(landings_held_, 0); i > 0; --i) clock_.schedule(clock_.now(), *this, kLands);
  }
  if (!back) {
    for (std::size_t i = std::exchange(completions_held_, 0); i > 0; --i)
      clock_.schedule(clock_.now(), *this, kCompletes);
  }
}

void RdmaWire::on_fenced(std::size_t late) {
  out_.withdraw(*this);
  from_ = nullptr;
  queued_ = outstanding_ = 0;
  look_for_stall();
  const auto max_lag = static_cast<std::uint32_t>(facts_.max_lag.count());
  for (; late > 0; --late) {
    const Duration lag(max_lag > 0 ? network_.choose(max_lag) : 0);
    last_landing_ = std::max(last_landing_, clock_.now() + facts_.latency) + lag;
    clock_.schedule(last_landing_, *this, kLandsLate);
  }
}

}  // namespace cableway::sim
