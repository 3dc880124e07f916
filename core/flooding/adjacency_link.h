// Messages between two neighbours, each once and in order, over datagrams that may be lost: go-back-N with a window of
// segments, cumulative acknowledgements, and a time-out that doubles.
//
// What waits to be sent is not kept here but asked for when the window has room, so that only the newest of something
// is sent and the memory of a link has a bound: kWindow segments. It never gives up; who is silent is the neighbours'
// to tell. One thread: the node's.
#ifndef CABLEWAY_CORE_FLOODING_ADJACENCY_LINK_H_
#define CABLEWAY_CORE_FLOODING_ADJACENCY_LINK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "core/clock.h"
#include "core/flooding/link_segment.h"
#include "routing/topology/node_id.h"

namespace cableway {

class AdjacencyLink {
 public:
  static constexpr std::size_t kWindow = 8;

  class End {
   public:
    virtual ~End() = default;
    // The next message to send; false: nothing waits.
    virtual bool next_message(LinkMessage& message) = 0;
    virtual void send_segment(std::span<const std::byte> body) = 0;
    virtual void receive_message(const LinkMessage& message) = 0;
  };

  struct Sessions {
    routing::NodeId us;
    routing::NodeId them;
    std::uint32_t ours = 0;
    std::uint32_t theirs = 0;
  };

  // `clock` and `end` outlive this.
  AdjacencyLink(Sessions sessions, Clock& clock, End& end);

  // Something waits to be sent. It leaves a moment later, together with what else comes until then.
  void wake();
  // InvalidArgument: no segment. Segments of another adjacency are left alone.
  absl::Status receive(std::span<const std::byte> body);

  std::uint64_t retransmissions() const { return retransmissions_; }
  // Nothing is on its way that the neighbour has not acknowledged.
  bool settled() const { return unacknowledged_.empty(); }

 private:
  struct Sent {
    std::uint32_t sequence = 0;
    std::vector<LinkMessage> messages;
  };

  void flush();
  void fill_window();
  std::vector<LinkMessage> take_messages();
  void transmit(std::uint32_t sequence, const std::vector<LinkMessage>& messages);
  void arm_retransmission();
  void acknowledge_up_to(std::uint32_t sequence);

  Sessions sessions_;
  Clock& clock_;
  End& end_;
  std::uint32_t next_sequence_ = 1;
  std::uint32_t received_ = 0;  // the last one that came in order
  bool owe_acknowledgement_ = false;
  std::deque<Sent> unacknowledged_;
  LinkMessage overhang_;  // did not fit into the last segment
  bool has_overhang_ = false;
  Duration time_out_;
  std::uint64_t retransmissions_ = 0;
  std::unique_ptr<Timer> flush_;
  std::unique_ptr<Timer> retransmission_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_ADJACENCY_LINK_H_
