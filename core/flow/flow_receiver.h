// The destination end of a flow: announces each posted receive to the source, checks the chunks that land, and
// acknowledges each message, in order, once it is complete.
//
// One thread at a time. Allocates nothing after construction.
#ifndef CABLEWAY_CORE_FLOW_FLOW_RECEIVER_H_
#define CABLEWAY_CORE_FLOW_FLOW_RECEIVER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "core/flow/chunk_link.h"
#include "core/flow/flow_circuit.h"
#include "core/flow/landed_ranges.h"

namespace cableway {

class FlowReceiver {
 public:
  // For a flow over one circuit with this last hop, which must outlive the receiver.
  explicit FlowReceiver(ChunkLink& last_hop);
  FlowReceiver(const FlowReceiver&) = delete;
  FlowReceiver& operator=(const FlowReceiver&) = delete;

  // Whether another receive may be posted: at most kMaxLandings are unfinished.
  bool can_post() const { return next_ - oldest_ < kMaxLandings; }
  // Posts a receive and announces it. Its memory may be written until done(). Requires can_post().
  absl::StatusOr<std::uint64_t> post(const FlowLanding& landing);

  // Does all work possible without blocking. A status other than OK is final for the flow.
  absl::Status progress();

  bool done(std::uint64_t message) const { return message < oldest_; }
  // The true size of a message that is done and among the last kMaxLandings posted.
  std::uint64_t size(std::uint64_t message) const { return at(message).size; }
  bool idle() const { return oldest_ == next_; }
  // The sequence number that the next post() will take.
  std::uint64_t next() const { return next_; }

 private:
  // One of the flow's circuits, and the sink of its link.
  class Circuit final : public ChunkLink::Sink {
   public:
    void open(FlowReceiver& flow, ChunkLink& link);
    ChunkLink& link() { return *link_; }

   private:
    absl::Status on_landed(const Frame& chunk) override;
    absl::Status on_chunk(const Frame&, Slot&) override;
    absl::Status on_control(const Frame& control) override;
    void on_sent(Slot*) override {}

    FlowReceiver* flow_ = nullptr;
    ChunkLink* link_ = nullptr;
  };
  struct Message {
    std::uint64_t capacity = 0;
    std::uint64_t size = 0;
    LandedRanges landed;
    bool begun = false;
    bool whole = false;
  };

  absl::Status take_landed(const Frame& chunk);
  absl::Status finish_whole();
  Message& at(std::uint64_t message) { return messages_[message % kMaxLandings]; }
  const Message& at(std::uint64_t message) const { return messages_[message % kMaxLandings]; }

  std::array<Circuit, kMaxFlowCircuits> circuits_;
  std::size_t circuit_count_ = 1;
  std::size_t primary_ = 0;  // the circuit that carries announcements and acknowledgements
  std::array<Message, kMaxLandings> messages_;
  IslandPool islands_;
  std::uint64_t oldest_ = 0;  // first receive that is not done
  std::uint64_t next_ = 0;    // sequence number of the next post()
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FLOW_RECEIVER_H_
