#include "core/flooding/adjacency_link.h"

#include <algorithm>
#include <utility>

namespace cableway {
namespace {

// Long enough that one acknowledgement answers a neighbour's burst, short compared to any time-out.
constexpr std::chrono::milliseconds kFlushAfter{2};
constexpr std::chrono::milliseconds kInitialTimeOut{40};
constexpr std::chrono::milliseconds kMaxTimeOut{640};

}  // namespace

AdjacencyLink::AdjacencyLink(Identity identity, Clock& clock, SegmentAllowance& allowance, End& end)
    : identity_(identity), clock_(clock), allowance_(allowance), end_(end), time_out_(kInitialTimeOut) {}

void AdjacencyLink::wake() {
  if (flush_ != nullptr) return;
  flush_ = clock_.call_after(kFlushAfter, [this] {
    flush_.reset();
    flush();
  });
}

void AdjacencyLink::flush() {
  fill_window();
  // Segments sent by fill_window() carry the acknowledgement, too.
  if (owe_acknowledgement_) transmit(0, {});
}

void AdjacencyLink::fill_window() {
  while (unacknowledged_.size() < kWindow) {
    std::vector<LinkMessage> messages = take_messages();
    if (messages.empty()) return;
    unacknowledged_.push_back(Sent{next_sequence_++, std::move(messages)});
    transmit(unacknowledged_.back().sequence, unacknowledged_.back().messages);
    if (retransmission_ == nullptr) arm_retransmission();
  }
}

std::vector<LinkMessage> AdjacencyLink::take_messages() {
  std::vector<LinkMessage> messages;
  std::size_t bytes = 0;
  while (has_overhang_ || end_.next_message(overhang_)) {
    has_overhang_ = true;
    if (!messages.empty() && bytes + overhang_.bytes.size() > kSegmentBytes) break;
    bytes += overhang_.bytes.size();
    messages.push_back(std::exchange(overhang_, {}));
    has_overhang_ = false;
  }
  return messages;
}

void AdjacencyLink::transmit(std::uint32_t sequence, const std::vector<LinkMessage>& messages) {
  owe_acknowledgement_ = false;
  end_.send_segment(encode_link_segment(LinkSegment{identity_.them.value, identity_.their_adjacency,
                                                    identity_.our_adjacency, sequence, acknowledged(), messages}));
}

void AdjacencyLink::arm_retransmission() {
  retransmission_ = clock_.call_after(time_out_, [this] {
    retransmissions_ += unacknowledged_.size();
    for (const Sent& sent : unacknowledged_) transmit(sent.sequence, sent.messages);
    time_out_ = std::min<Duration>(time_out_ * 2, kMaxTimeOut);
    arm_retransmission();
  });
}

absl::Status AdjacencyLink::receive(std::span<const std::byte> body) {
  absl::StatusOr<LinkSegment> segment = decode_link_segment(body);
  if (!segment.ok()) return segment.status();
  const bool ours = segment->to == identity_.us.value && segment->your_adjacency == identity_.our_adjacency &&
                    segment->my_adjacency == identity_.their_adjacency;
  if (!ours) return absl::OkStatus();
  acknowledge_up_to(segment->acknowledged);
  if (segment->sequence != 0 && segment->sequence <= acknowledged()) {
    // A copy: the earlier acknowledgement may have been lost.
    owe_acknowledgement_ = true;
    wake();
  }
  // Beyond the window: the neighbour ignores flow control.
  if (segment->sequence != received_ + 1 || held_.size() == kWindow) return absl::OkStatus();
  received_ = segment->sequence;
  held_.push_back(body.size());
  acknowledge_received();
  for (const LinkMessage& message : segment->messages) end_.receive_message(message);
  return absl::OkStatus();
}

// What the allowance covers now, and the rest later.
void AdjacencyLink::acknowledge_received() {
  while (!held_.empty() && allowance_.take(clock_.now(), held_.front())) {
    held_.pop_front();
    owe_acknowledgement_ = true;
  }
  if (owe_acknowledgement_) wake();
  if (held_.empty() || acknowledgement_ != nullptr) return;
  acknowledgement_ = clock_.call_after(SegmentAllowance::kEvery, [this] {
    acknowledgement_.reset();
    acknowledge_received();
  });
}

void AdjacencyLink::acknowledge_up_to(std::uint32_t sequence) {
  bool progress = false;
  while (!unacknowledged_.empty() && unacknowledged_.front().sequence <= sequence && sequence < next_sequence_) {
    unacknowledged_.pop_front();
    progress = true;
  }
  if (!progress) return;
  time_out_ = kInitialTimeOut;
  retransmission_.reset();
  if (!unacknowledged_.empty()) arm_retransmission();
  wake();
}

}  // namespace cableway
