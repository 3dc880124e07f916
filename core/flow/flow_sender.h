// The source end of a flow: sends messages in order, each only after its receiver has announced a receive for it. A
// message is done when its receiver has acknowledged all of it and no circuit reads its memory any more.
//
// One thread at a time. Allocates nothing after construction.
#ifndef CABLEWAY_CORE_FLOW_FLOW_SENDER_H_
#define CABLEWAY_CORE_FLOW_FLOW_SENDER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "core/flow/chunk_link.h"
#include "core/flow/flow_circuit.h"

namespace cableway {

class FlowSender {
 public:
  // For a flow over one circuit with this first hop, which must outlive the sender. `chunk_bytes`: the largest chunk
  // that the circuit accepts, a multiple of 128.
  FlowSender(ChunkLink& first_hop, std::uint32_t chunk_bytes);
  FlowSender(const FlowSender&) = delete;
  FlowSender& operator=(const FlowSender&) = delete;

  // Whether another message may be posted: at most kMaxLandings are unfinished.
  bool can_post() const { return next_ - oldest_ < kMaxLandings; }
  // Posts a message, and sends at once what may be sent of it; its bytes are read until done(). Returns its sequence
  // number. Requires can_post(). A status other than OK is final for the flow.
  absl::StatusOr<std::uint64_t> post(const FlowBuffer& buffer, std::uint64_t bytes);

  // Does all work possible without blocking. A status other than OK is final for the flow.
  absl::Status progress();

  bool done(std::uint64_t message) const;
  // The size of a message among the last kMaxLandings posted.
  std::uint64_t size(std::uint64_t message) const { return at(message).bytes; }
  bool idle() const { return oldest_ == next_; }
  // The sequence number that the next post() will take.
  std::uint64_t next() const { return next_; }

 private:
  // One of the flow's circuits, and the sink of its link.
  class Circuit final : public ChunkLink::Sink {
   public:
    void open(FlowSender& flow, ChunkLink& link, std::uint32_t chunk_bytes);
    void send(const Frame& chunk, SendBuffer payload);

    ChunkLink& link() { return *link_; }
    std::uint32_t chunk_bytes() const { return chunk_bytes_; }
    // Numbers of chunks passed to the link, and of those that it no longer reads; chunks complete in order.
    std::uint64_t sent() const { return sent_; }
    std::uint64_t completed() const { return completed_; }

   private:
    absl::Status on_landed(const Frame&) override;
    absl::Status on_chunk(const Frame&, Slot&) override;
    absl::Status on_control(const Frame& control) override;
    void on_sent(Slot*) override { ++completed_; }

    FlowSender* flow_ = nullptr;
    ChunkLink* link_ = nullptr;
    std::uint32_t chunk_bytes_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t completed_ = 0;
  };
  struct Message {
    FlowBuffer buffer;
    std::uint64_t bytes = 0;
    std::uint64_t sent = 0;
    // By circuit: how many chunks it must have completed before the message's memory is no longer read.
    std::array<std::uint64_t, kMaxFlowCircuits> last_chunk{};
    bool begun = false;  // a message of zero bytes still needs its one chunk
    bool acknowledged = false;
  };

  absl::Status take_control(const Frame& control);
  absl::Status take_announcement(const Frame& control);
  absl::Status take_acknowledgement(const Frame& control);
  absl::Status send_announced();
  void retire();
  bool finished(const Message& message) const;
  Message& at(std::uint64_t message) { return messages_[message % kMaxLandings]; }
  const Message& at(std::uint64_t message) const { return messages_[message % kMaxLandings]; }

  std::array<Circuit, kMaxFlowCircuits> circuits_;
  std::size_t circuit_count_ = 1;
  std::size_t primary_ = 0;  // the circuit that carries what is not spread over all
  std::array<Message, kMaxLandings> messages_;
  std::array<std::uint64_t, kMaxLandings> capacities_{};  // of the announced receives, by sequence number
  std::uint64_t oldest_ = 0;                              // first message that is not done
  std::uint64_t unacknowledged_ = 0;                      // first message that is not acknowledged
  std::uint64_t sending_ = 0;                             // message whose chunks are being sent
  std::uint64_t next_ = 0;                                // sequence number of the next post()
  std::uint64_t announced_ = 0;                           // messages below this one may be sent
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FLOW_SENDER_H_
