// A hop in memory: a pair of ChunkLinks whose frames cross when the test or the simulator calls step(). It behaves like
// the transport with the weakest ordering that the interface allows: it stores and forwards (a chunk is reported only
// when it is complete), completes sends late, and delivers one frame per step.
#ifndef CABLEWAY_SIM_CABLE_MEMORY_CHUNK_LINK_H_
#define CABLEWAY_SIM_CABLE_MEMORY_CHUNK_LINK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/flow/chunk_link.h"
#include "sim/cable/link_inbox.h"

namespace cableway::sim {

class MemoryChunkLink final : public ChunkLink {
 public:
  // Two ends of one hop. Each must outlive the other's last call.
  static std::pair<std::unique_ptr<MemoryChunkLink>, std::unique_ptr<MemoryChunkLink>> make_pair();

  bool can_send() const override { return !sending_.has_value(); }
  void send(const Frame& chunk, SendBuffer payload) override;
  void send(const Frame& chunk, Slot& slot) override;
  absl::Status send_control(const Frame& control) override;
  bool has_queued_controls() const override { return !controls_.empty(); }
  absl::Status post_landing(std::uint64_t message, const Landing& landing) override {
    return inbox_.post_landing(message, landing);
  }
  void end_landing(std::uint64_t message) override { inbox_.end_landing(message); }
  void post_slot(Slot& slot) override { inbox_.post_slot(slot); }
  bool withdraw_slot(Slot& slot) override { return inbox_.withdraw_slot(slot); }
  void widen() override { wide_ = true; }
  bool narrow() override;
  // Reports delivered frames, each at most once.
  absl::Status progress(Sink& sink) override;
  absl::Status flush(Sink& sink) override;
  std::uint64_t bytes_moved() const override { return bytes_moved_; }
  void fail(absl::string_view reason, FailureScope scope) override;
  void fence() override;

  // Moves the oldest frame sent here to the other end, if there is one and the other end has room. Bytes are copied at
  // this point: memory that the owner reuses earlier is delivered corrupted, as on a real wire.
  bool step();
  // Cuts the hop: both ends fail from now on, and frames in flight are lost.
  void cut(const absl::Status& reason);
  std::size_t slots_posted() const { return inbox_.slots_posted(); }
  bool wide() const { return wide_; }
  // While held, narrow() returns false, as if much data were queued.
  void hold_queue(bool held) { queue_held_ = held; }

 private:
  struct Sending {
    Frame chunk;
    const std::byte* memory = nullptr;
    Slot* slot = nullptr;
  };

  MemoryChunkLink() = default;
  bool deliver_control();
  bool deliver_chunk();
  bool accept_chunk(const Frame& chunk, const std::byte* payload);

  MemoryChunkLink* peer_ = nullptr;
  std::deque<Frame> controls_;
  std::optional<Sending> sending_;
  std::optional<Slot*> sent_;  // delivered, not yet reported to its owner
  LinkInbox inbox_;
  bool wide_ = false;
  bool queue_held_ = false;
  absl::Status dead_;
  std::uint64_t bytes_moved_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_MEMORY_CHUNK_LINK_H_
