// The source end of a flow: messages in order, each sent only after its receiver has announced room for it, each done
// only when its receiver has acknowledged all of it and the link reads its memory no more.
//
// One thread at a time. Allocates nothing after construction.
#ifndef CABLEWAY_CORE_FLOW_SENDER_H_
#define CABLEWAY_CORE_FLOW_SENDER_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "core/chunk_link.h"

namespace cableway {

class FlowSender final : private ChunkLink::Owner {
 public:
  // `link` is the circuit's first hop and outlives this. `chunk_bytes` is a multiple of 128.
  FlowSender(ChunkLink& link, std::uint32_t chunk_bytes) : link_(link), chunk_bytes_(chunk_bytes) {}

  // Whether another message fits: at most kMaxLandings are unfinished.
  bool can_post() const { return next_ - oldest_ < kMaxLandings; }
  // Takes a message, and sends at once what may be sent of it; its bytes are read until done(). Returns its sequence
  // number. Requires can_post(). A status other than OK is final for the flow.
  absl::StatusOr<std::uint64_t> post(SendBuffer buffer, std::uint64_t bytes);

  // Moves what can be moved. A status other than OK is final for the flow.
  absl::Status progress();

  bool done(std::uint64_t message) const;
  // The size of a message among the last kMaxLandings posted.
  std::uint64_t size(std::uint64_t message) const { return at(message).bytes; }
  bool idle() const { return oldest_ == next_; }
  // The sequence number that the next post() will take.
  std::uint64_t next() const { return next_; }

 private:
  struct Message {
    SendBuffer buffer;
    std::uint64_t bytes = 0;
    std::uint64_t sent = 0;
    std::uint64_t last_chunk = 0;  // counted over the flow from 1: what the link must have completed
    bool begun = false;            // a message of zero bytes still needs its one chunk
    bool acknowledged = false;
  };

  absl::Status on_landed(const Frame&) override;
  absl::Status on_chunk(const Frame&, Slot&) override;
  absl::Status on_control(const Frame& control) override;
  void on_sent(Slot*) override { ++chunks_completed_; }

  absl::Status take_announcement(const Frame& control);
  absl::Status take_acknowledgement(const Frame& control);
  absl::Status send_announced();
  void retire();
  bool finished(const Message& message) const {
    return message.acknowledged && chunks_completed_ >= message.last_chunk;
  }
  Message& at(std::uint64_t message) { return messages_[message % kMaxLandings]; }
  const Message& at(std::uint64_t message) const { return messages_[message % kMaxLandings]; }

  ChunkLink& link_;
  const std::uint32_t chunk_bytes_;
  std::array<Message, kMaxLandings> messages_;
  std::array<std::uint64_t, kMaxLandings> capacities_{};  // of the announced receives, by sequence number
  std::uint64_t oldest_ = 0;                              // first message that is not done
  std::uint64_t unacknowledged_ = 0;                      // first message that is not acknowledged
  std::uint64_t sending_ = 0;                             // message whose chunks are being sent
  std::uint64_t next_ = 0;                                // sequence number of the next post()
  std::uint64_t announced_ = 0;                           // messages below this one may be sent
  std::uint64_t chunks_sent_ = 0;
  std::uint64_t chunks_completed_ = 0;  // in the order in which they were sent: the link reads them no more
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_SENDER_H_
