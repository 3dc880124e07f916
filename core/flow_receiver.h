// The destination end of a flow: announces each posted receive to the source, checks what lands, acknowledges each
// message once it is whole.
//
// One thread at a time. Allocates nothing after construction.
#ifndef CABLEWAY_CORE_FLOW_RECEIVER_H_
#define CABLEWAY_CORE_FLOW_RECEIVER_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "core/chunk_link.h"

namespace cableway {

class FlowReceiver final : private ChunkLink::Owner {
 public:
  // `link` is the circuit's last hop and outlives this.
  explicit FlowReceiver(ChunkLink& link) : link_(link) {}

  // Whether another receive fits: at most kMaxLandings are unfinished.
  bool can_post() const { return next_ - oldest_ < kMaxLandings; }
  // Posts a receive and announces it. Its memory may be written until done(). Requires can_post().
  absl::StatusOr<std::uint64_t> post(const Landing& landing);

  // Moves what can be moved. A status other than OK is final for the flow.
  absl::Status progress();

  bool done(std::uint64_t message) const { return message < oldest_ || at(message).whole; }
  // The true size of a message that is done and among the last kMaxLandings posted.
  std::uint64_t size(std::uint64_t message) const { return at(message).size; }
  bool idle() const { return oldest_ == next_; }
  // The sequence number that the next post() will take.
  std::uint64_t next() const { return next_; }

 private:
  struct Message {
    std::uint64_t capacity = 0;
    std::uint64_t size = 0;
    std::uint64_t landed = 0;
    bool whole = false;
  };

  absl::Status on_landed(const Frame& chunk) override;
  absl::Status on_chunk(const Frame&, Slot&) override;
  absl::Status on_control(const Frame& control) override;
  void on_sent(Slot*) override {}

  Message& at(std::uint64_t message) { return messages_[message % kMaxLandings]; }
  const Message& at(std::uint64_t message) const { return messages_[message % kMaxLandings]; }

  ChunkLink& link_;
  std::array<Message, kMaxLandings> messages_;
  std::uint64_t oldest_ = 0;  // first receive that is not done
  std::uint64_t next_ = 0;    // sequence number of the next post()
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_RECEIVER_H_
