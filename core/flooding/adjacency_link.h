// Delivers messages between two neighbours exactly once and in order, over datagrams that may be lost: go-back-N with a
// window of segments, cumulative acknowledgements, and exponential backoff.
//
// A segment that exceeds the neighbour's allowance is acknowledged late, which keeps the neighbour's window full. This
// bounds the cost of endless renewals, here and at the nodes that they are flooded on to.
//
// Pending messages are not queued here but requested from the End when the window has room, so that only the newest
// version of an advertisement is sent and a link's memory is bounded by kWindow segments. The link never gives up;
// Neighbours detects a silent neighbour. One thread: the node's.
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
#include "core/flooding/segment_allowance.h"
#include "routing/topology/node_id.h"

namespace cableway {

class AdjacencyLink {
 public:
  static constexpr std::size_t kWindow = 8;

  class End {
   public:
    virtual ~End() = default;
    // Sets the next message to send; false: none is pending.
    virtual bool next_message(LinkMessage& message) = 0;
    virtual void send_segment(std::span<const std::byte> body) = 0;
    virtual void receive_message(const LinkMessage& message) = 0;
  };

  // The two nodes, and the number that each has drawn for the adjacency.
  struct Identity {
    routing::NodeId us;
    routing::NodeId them;
    std::uint64_t our_adjacency = 0;
    std::uint64_t their_adjacency = 0;
  };

  // All references must outlive this. `allowance`: of what the neighbour sends.
  AdjacencyLink(Identity identity, Clock& clock, SegmentAllowance& allowance, End& end);

  // Messages are pending. They are sent after a short delay that batches them with later ones.
  void wake();
  // InvalidArgument: not a segment. Ignores segments of another adjacency.
  absl::Status receive(std::span<const std::byte> body);

  std::uint64_t retransmissions() const { return retransmissions_; }
  // The neighbour has acknowledged every segment sent.
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
  void acknowledge_received();
  std::uint32_t acknowledged() const { return received_ - static_cast<std::uint32_t>(held_.size()); }

  Identity identity_;
  Clock& clock_;
  SegmentAllowance& allowance_;
  End& end_;
  std::uint32_t next_sequence_ = 1;
  std::uint32_t received_ = 0;    // the last one received in order
  std::deque<std::size_t> held_;  // of those, the last ones, not acknowledged yet: their bytes
  bool owe_acknowledgement_ = false;
  std::deque<Sent> unacknowledged_;
  LinkMessage overhang_;  // did not fit into the last segment
  bool has_overhang_ = false;
  Duration time_out_;
  std::uint64_t retransmissions_ = 0;
  std::unique_ptr<Timer> flush_;
  std::unique_ptr<Timer> retransmission_;
  std::unique_ptr<Timer> acknowledgement_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_ADJACENCY_LINK_H_
