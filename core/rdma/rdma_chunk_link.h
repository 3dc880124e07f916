// A circuit's hop over RDMA: writes chunks directly into the neighbour's memory, which is a relay's slot or the
// receiver's buffer; then writes the frame into the neighbour's mailbox, with a notice (immediate data).
//
//   sender's memory or slot ----------- payload ---------->  slot, or landing       one posting of two writes; the
//   frame, address, taken   ------ 48 bytes, notice n ---->  mailbox place n % 256  the second arrives last
//   credits, landings       <----- 48 bytes, notice m -----
//
// A mailbox entry is free again once the receiver has consumed its frame; every frame in the other direction carries
// the count of consumed frames. Slots are offered one by one (a credit), used in any order, and returned when
// recalled. Landings are sent with their announcements, on the last hop only.
//
// The connection over which the hop was set up stays open beside it as its lifeline. An end that leaves fences its
// queue pair at once, and so loses the frames in flight. Therefore it repeats its latest acknowledgements over the
// lifeline and then sends the reason; the other end skips acknowledgements that it has already received. An
// acknowledged chunk counts as sent even if the device has not completed the write. docs/decisions/0009 gives the
// reasons.
//
// One thread at a time. Allocates nothing after construction, copies no payload, and never blocks.
#ifndef CABLEWAY_CORE_RDMA_RDMA_CHUNK_LINK_H_
#define CABLEWAY_CORE_RDMA_RDMA_CHUNK_LINK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/flow/chunk_link.h"
#include "core/rdma/rdma_frame.h"
#include "core/rdma/rdma_queue_pair.h"
#include "core/rdma/registered_slot.h"

namespace cableway {

// The connection beside an RDMA hop. One thread at a time; never blocks.
class HopLifeline {
 public:
  virtual ~HopLifeline() = default;
  struct Failure {
    absl::string_view reason;
    FailureScope scope = FailureScope::kCircuit;
  };
  // The next item from the other end. nullopt: there is none. An acknowledgement may have been received before.
  // Errors: received_failure(), or Cancelled when the other end has closed the connection.
  virtual absl::StatusOr<std::optional<Frame>> look() = 0;
  // Sends `last`, then `failure` if there is one, as far as possible without blocking; closes this side.
  virtual void leave(std::span<const Frame> last, const std::optional<Failure>& failure) = 0;
};

class RdmaChunkLink final : public ChunkLink {
 public:
  struct Place {
    // The neighbour is the flow's destination, so chunks go to landings instead of slots. For the sending end only.
    bool last_hop = false;
    // This end accepted the hop. It sends nothing before the other end has sent, since the other end's queue pair is
    // connected later.
    bool accepted = false;
    // Index on this node of the device that the hop uses (RegisteredSlot::keys).
    std::size_t device = 0;
  };

  // `queue_pair` is connected to `other`.
  RdmaChunkLink(std::unique_ptr<RdmaQueuePair> queue_pair, const RdmaEndpoint& other,
                std::unique_ptr<HopLifeline> lifeline, Place place);
  ~RdmaChunkLink() override;

  bool can_send() const override;
  void send(const Frame& chunk, SendBuffer payload) override;
  void send(const Frame& chunk, Slot& slot) override;
  absl::Status send_control(const Frame& control) override;
  absl::Status post_landing(std::uint64_t message, const Landing& landing) override;
  bool needs_announcements() const override { return true; }
  void end_landing(std::uint64_t message) override { posted_[message % kMaxLandings].active = false; }
  void post_slot(Slot& slot) override;
  bool withdraw_slot(Slot& slot) override;
  void widen() override {}
  bool narrow() override { return true; }
  absl::Status progress(Sink& sink) override;
  absl::Status flush(Sink& sink) override;
  std::uint64_t bytes_moved() const override { return bytes_moved_; }
  void fail(absl::string_view reason, FailureScope scope) override;
  void fence() override;

  // The poller found the lifeline readable: the next progress() reads it. Without this call it is read occasionally.
  void on_lifeline() { lifeline_news_ = true; }
  bool has_queued_controls() const override { return flow_frames_ > 0; }
  RdmaQueuePair& queue_pair() { return *queue_pair_; }
  HopLifeline& lifeline() { return *lifeline_; }

  // The maximum number of chunks in flight over one hop.
  static constexpr std::size_t kMaxChunks = 32;
  // The maximum of bytes in flight, not counting the last chunk. A fast cable holds fewer, and data that queues
  // before a slow one for longer than the device's acknowledgement time-out is retransmitted.
  static constexpr std::uint64_t kMaxBytes = 1U << 20;
  // The chunk size of a source whose first hop this is, chosen so that several chunks are in flight.
  static constexpr std::uint32_t kChunkBytes = 128U << 10;
  // The maximum number of slots that one hop may have posted.
  static constexpr std::size_t kMaxSlots = 64;

 private:
  struct Target {  // a landing at the other end
    std::uint64_t message = 0;
    std::uint64_t address = 0;
    std::uint64_t capacity = 0;
    std::uint32_t key = 0;
    bool active = false;
  };
  struct Posted {  // a landing here
    std::uint64_t message = 0;
    Landing landing;
    bool active = false;
  };
  struct Offered {  // a slot here
    RegisteredSlot* slot = nullptr;
    bool recalled = false;  // a recall was sent
    bool returned = false;  // the other end will not write into it
  };
  struct Credit {  // a slot at the other end
    std::uint64_t address = 0;
    std::uint32_t key = 0;
  };
  struct Outgoing {
    std::uint64_t ticket = 0;
    std::uint64_t message = 0;
    std::uint32_t bytes = 0;
    Slot* slot = nullptr;
  };

  // The maximum of all queued frames. In addition to the flow's own frames, each slot may be recalled, offered and
  // recalled again, and each of the other end's slots returned.
  static constexpr std::size_t kMaxControls = kMaxQueuedControls + 4 * kMaxSlots;
  static constexpr std::size_t kBatch = 16;

  void send_chunk(const Frame& chunk, const std::byte* data, std::uint32_t local_key, Slot* slot);
  absl::StatusOr<Credit> destination(const Frame& chunk);
  void add_frame(const RdmaFrame& frame, bool reports);
  void queue(const RdmaFrame& frame);
  bool mailbox_has_room(std::uint64_t reserved) const;
  bool queue_has_room(std::uint64_t writes) const;
  void add_controls();
  void add_taken();
  absl::Status post_batch();
  absl::Status poll_queue_pair(Sink& sink);
  absl::Status take(const RdmaCompletion& completion, Sink& sink);
  absl::Status take_notice(std::uint32_t notice, Sink& sink);
  absl::Status take_frame(const RdmaFrame& frame, Sink& sink);
  absl::Status take_chunk(const RdmaFrame& frame, Sink& sink);
  absl::Status take_landed(const Frame& chunk, Sink& sink);
  absl::Status take_announcement(const RdmaFrame& frame, Sink& sink);
  absl::Status take_slot(const RdmaFrame& frame);
  absl::Status give_back(const RdmaFrame& frame);
  absl::Status take_returned(const RdmaFrame& frame);
  absl::Status take_written(std::uint64_t ticket, Sink& sink);
  // Reports the chunks whose last write is this one or an earlier one.
  void complete_chunks(std::uint64_t ticket, Sink& sink);
  absl::Status look_at_lifeline(Sink& sink);
  // The queue pair has failed: completes the acknowledged chunks. Returns `why`.
  absl::Status end(const absl::Status& why, Sink& sink);
  // Prefers the other end's reason from the lifeline to the local queue pair's error.
  absl::Status explain(const absl::Status& found, Sink& sink);
  absl::Status take_acknowledgement(const Frame& acknowledgement, Sink& sink);
  void leave(const std::optional<HopLifeline::Failure>& failure);

  const std::unique_ptr<RdmaQueuePair> queue_pair_;
  const RdmaEndpoint other_;
  const std::unique_ptr<HopLifeline> lifeline_;
  const Place place_;
  bool begun_;           // the other end's queue pair is connected
  absl::Status broken_;  // final: found in a call that returns nothing, or set by end()

  std::array<RdmaWrite, kBatch> batch_;
  std::array<RdmaFrameBytes, kBatch> batch_frames_;  // payload of the inlined writes of batch_
  std::size_t batched_ = 0;
  std::uint64_t writes_posted_ = 0;  // including those in batch_
  std::uint64_t writes_asked_ = 0;   // the last one for which a completion was requested
  std::uint64_t writes_reported_ = 0;
  std::uint64_t frames_sent_ = 0;
  std::uint64_t frames_taken_there_ = 0;
  std::array<RdmaFrame, kMaxControls> control_ring_;
  std::uint64_t control_first_ = 0;
  std::size_t controls_ = 0;
  std::size_t flow_frames_ = 0;  // of controls_
  std::size_t returns_ = 0;      // of controls_
  std::array<Outgoing, kMaxChunks> outgoing_;
  std::uint64_t outgoing_first_ = 0;
  std::uint64_t outgoing_end_ = 0;
  std::uint64_t outgoing_bytes_ = 0;
  std::array<Target, kMaxLandings> targets_;
  std::vector<Credit> credits_;                       // oldest first
  std::uint64_t acknowledged_there_ = 0;              // messages below this one, as received
  std::array<Frame, kMaxLandings> acknowledgements_;  // the latest ones sent
  std::uint64_t acknowledgements_sent_ = 0;

  std::uint64_t frames_taken_ = 0;
  std::uint64_t frames_made_room_for_ = 0;
  std::uint64_t room_reported_ = 0;  // of frames_made_room_for_
  std::array<Posted, kMaxLandings> posted_;
  std::vector<Offered> offered_;

  absl::Status left_;  // the reason, once the other end has left
  bool lifeline_news_ = false;
  std::uint32_t empty_turns_ = 0;
  std::uint64_t bytes_moved_ = 0;
  bool fenced_ = false;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_RDMA_RDMA_CHUNK_LINK_H_
