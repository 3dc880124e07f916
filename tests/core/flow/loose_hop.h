// A hop in memory whose frames move when a test says so, with the weakest guarantees that a transport may give when a
// hop ends:
//
// - A chunk may still be written to the receiver's memory after its sender has fenced its end, and after the landing
//   has ended, as a device does that has the address: only the receiver's own fence prevents it.
// - What one read has brought is reported to the end, although a part of it has made the end fence the hop.
// - A cut loses what is in flight. Each end notices when the test says so, or never.
// - The queue of frames without payload is as short as the test says.
#ifndef CABLEWAY_TESTS_CORE_FLOW_LOOSE_HOP_H_
#define CABLEWAY_TESTS_CORE_FLOW_LOOSE_HOP_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/flow/chunk_link.h"

namespace cableway::test {

class LooseEnd final : public ChunkLink {
 public:
  // One that has not arrived yet.
  struct InFlight {
    Frame frame;
    const std::byte* memory = nullptr;  // a chunk's bytes, read when it arrives
    std::vector<std::byte> read;        // or before, when its sender fences
    absl::Status end;                   // not OK: the other end has left
  };
  std::size_t max_chunks = 3;
  std::size_t max_controls = kMaxQueuedControls;
  bool announces_each = false;

  bool can_send() const override { return chunks_ < max_chunks; }
  void send(const Frame& chunk, SendBuffer payload) override {
    misused_ = misused_ || fenced_;
    ++chunks_;
    new_chunks_.push_back(chunk);
    out_.push_back({chunk, payload.data, {}, {}});
  }
  void send(const Frame&, Slot&) override {}
  absl::Status send_control(const Frame& control) override {
    const auto has_no_payload = [](const InFlight& each) { return each.frame.kind != FrameKind::kChunk; };
    if (static_cast<std::size_t>(std::count_if(out_.begin(), out_.end(), has_no_payload)) >= max_controls) {
      return absl::ResourceExhaustedError("more control frames are waiting than the protocol allows");
    }
    if (!fenced_) out_.push_back({control, nullptr, {}, {}});
    if (!fenced_) ++unflushed_;
    return absl::OkStatus();
  }
  absl::Status post_landing(std::uint64_t message, const Landing& landing) override {
    landings_[message] = landing;
    return absl::OkStatus();
  }
  bool needs_announcements() const override { return announces_each; }
  void end_landing(std::uint64_t) override {}
  void post_slot(Slot&) override {}
  bool withdraw_slot(Slot&) override { return false; }
  void widen() override {}
  bool narrow() override { return true; }
  absl::Status progress(Sink& sink) override {
    ++polls_;
    if (fenced_) return absl::FailedPreconditionError("the circuit is closed");
    while (!arrived_.empty()) {
      const Frame frame = arrived_.front();
      arrived_.pop_front();
      ++moved_;
      const bool chunk = frame.kind == FrameKind::kChunk;
      if (absl::Status status = chunk ? sink.on_landed(frame) : sink.on_control(frame); !status.ok()) return status;
    }
    return flush(sink);
  }
  absl::Status flush(Sink& sink) override {
    unflushed_ = 0;
    for (; completed_ > 0; --completed_) {
      --chunks_;
      ++moved_;
      sink.on_sent(nullptr);
    }
    return fenced_ ? absl::FailedPreconditionError("the circuit is closed") : noticed_;
  }
  std::uint64_t bytes_moved() const override { return moved_; }
  void fail(absl::string_view reason, FailureScope scope) override { leave(received_failure(scope, reason)); }
  void fence() override { leave(absl::CancelledError("the peer closed the connection")); }

  // The end notices that the hop is cut.
  void notice(const absl::Status& why = absl::UnavailableError("the cable was pulled")) {
    if (noticed_.ok()) noticed_ = why;
  }
  bool fenced() const { return fenced_; }
  // A chunk was sent after the fence.
  bool misused() const { return misused_; }
  bool dead() const { return fenced_ || !noticed_.ok(); }
  const std::deque<InFlight>& out() const { return out_; }
  const std::deque<Frame>& arrived() const { return arrived_; }
  const absl::Status& noticed() const { return noticed_; }
  std::size_t completed() const { return completed_; }
  // Calls of progress().
  std::size_t polls() const { return polls_; }
  // Frames without payload that were queued since the last flush. They are delivered nevertheless.
  std::size_t unflushed() const { return unflushed_; }

  // The message whose memory the next delivery reads.
  std::optional<std::uint64_t> next_read() const {
    if (out_.empty() || out_.front().memory == nullptr) return std::nullopt;
    return out_.front().frame.message;
  }
  // Moves the oldest frame to the other end. False: there is none.
  bool deliver_to(LooseEnd& other) {
    if (out_.empty()) return false;
    InFlight next = std::move(out_.front());
    out_.pop_front();
    if (next.frame.kind == FrameKind::kChunk && next.end.ok()) ++completed_;
    other.take(next);
    return true;
  }
  void lose_all() { out_.clear(); }
  // The oldest frame, which counts as delivered. Returns whether it was a chunk.
  bool lose_first() {
    while (!out_.empty()) {
      const bool chunk = out_.front().frame.kind == FrameKind::kChunk && out_.front().end.ok();
      out_.pop_front();
      completed_ += chunk ? 1 : 0;
      if (chunk) return true;
    }
    return false;
  }
  // The chunks sent since the last call.
  std::vector<Frame> new_chunks() { return std::exchange(new_chunks_, {}); }

 private:
  void take(const InFlight& next) {
    if (fenced_) return;
    if (!next.end.ok()) {
      if (noticed_.ok()) noticed_ = next.end;
      return;
    }
    if (next.frame.kind == FrameKind::kChunk && next.frame.payload > 0) {
      const std::byte* from = next.memory != nullptr ? next.memory : next.read.data();
      std::memcpy(landings_.at(next.frame.message).data + next.frame.offset, from, next.frame.payload);
    }
    arrived_.push_back(next.frame);
  }
  void leave(absl::Status to_peer) {
    if (std::exchange(fenced_, true)) return;
    for (InFlight& each : out_) {
      if (each.memory == nullptr) continue;
      each.read.assign(each.memory, each.memory + each.frame.payload);
      each.memory = nullptr;
    }
    out_.push_back({{}, nullptr, {}, std::move(to_peer)});
  }

  std::deque<InFlight> out_;
  std::deque<Frame> arrived_;
  std::map<std::uint64_t, Landing> landings_;
  std::vector<Frame> new_chunks_;
  std::size_t chunks_ = 0;     // sent and not reported as completed
  std::size_t completed_ = 0;  // of these, not read any more
  std::size_t unflushed_ = 0;
  std::size_t polls_ = 0;
  std::uint64_t moved_ = 0;  // a byte for each frame or completion
  absl::Status noticed_;
  bool fenced_ = false;
  bool misused_ = false;
};

// A circuit of one hop.
struct LooseHop {
  LooseEnd source;
  LooseEnd destination;

  bool deliver_down() { return source.deliver_to(destination); }
  // As if the destination did not read: for tests that play it.
  bool deliver_down_unread() { return source.lose_first(); }
  bool deliver_up() { return destination.deliver_to(source); }
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_FLOW_LOOSE_HOP_H_
