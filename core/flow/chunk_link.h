// ChunkLink: one hop of one circuit, seen from one of its two ends. The flow ends (flow_sender.h, flow_receiver.h) and
// the relay (relay_circuit.h) are written against this interface and nothing else; RDMA (rdma_chunk_link.h), TCP
// (core/linux/tcp/tcp_chunk_link.h) and memory (sim/cable/memory_chunk_link.h) implement it:
//
//   here                        RDMA                                        TCP
//   post_landing()              address and key sent to the last hop        stored; placed by ordered stores
//   post_slot()                 a credit: the slot's address and key        an empty pipe to splice into
//   withdraw_slot()             the credit is recalled                      the pipe is taken off the list
//   widen(), narrow()           nothing: only the slots buffer data         sizes of the socket's buffers
//   send()                      the payload's write, a frame with a notice  header, then the payload's bytes
//   Sink::on_chunk             the notice's completion                     the header has been read
//   Sink::on_sent              the local completion, or a fence            the kernel holds a copy or the pages
//   fence()                     queue pair to error, flushed                socket shut down, landings cleared
//
// A link is owned by one thread at a time. It never blocks, and allocates nothing after set-up.
#ifndef CABLEWAY_CORE_FLOW_CHUNK_LINK_H_
#define CABLEWAY_CORE_FLOW_CHUNK_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/flow/frame.h"

namespace cableway {

// A message's bytes on a link's sending side: a registered region and the key that registration gave (0 for TCP).
struct SendBuffer {
  const std::byte* data = nullptr;
  std::uint32_t key = 0;
};

// Where a message lands on the receiving side. Bytes are written by aligned 8-byte stores in ascending order.
struct Landing {
  std::byte* data = nullptr;
  std::uint64_t capacity = 0;
  std::uint32_t key = 0;
};

// A relay's buffer for one chunk in transit. The transport defines what holds the bytes. A slot is in exactly one
// state: posted to the upstream link, filling, waiting, being sent by the downstream link, posted again; or in the pool
// that it is leased from (slot_pool.h).
class Slot {
 public:
  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  virtual ~Slot() = default;

  // The largest chunk that it holds; a cut-through slot holds any size.
  virtual std::uint32_t max_chunk_bytes() const { return kMaxChunkBytes; }
  // Discards a chunk, or part of one, whose circuit has ended, so that another circuit can lease the slot.
  virtual void clear() { filled = drained = 0; }
  // For a circuit's floor, when its links become wide or narrow; contract as of ChunkLink::widen() and narrow().
  virtual void widen() {}
  virtual bool narrow() { return true; }

  // Payload bytes of the current chunk that have arrived, and that have been forwarded. A cut-through transport
  // forwards while the chunk still arrives; a store-and-forward one reports a chunk only when it is complete.
  std::uint32_t filled = 0;
  std::uint32_t drained = 0;
};

class ChunkLink {
 public:
  // Called from within progress() and flush(). An owner may call send(), send_control() and post_*() from these.
  class Sink {
   public:
    virtual ~Sink() = default;
    // A chunk for a posted landing has landed completely.
    virtual absl::Status on_landed(const Frame& chunk) = 0;
    // A chunk is in `slot`, or has begun to arrive there (Slot::filled).
    virtual absl::Status on_chunk(const Frame& chunk, Slot& slot) = 0;
    // A frame without payload of the flow's other end (is_control()).
    virtual absl::Status on_control(const Frame& control) = 0;
    // A send() has completed locally: its memory or slot is no longer read. Called once for each, in order; null: it
    // was from memory.
    virtual void on_sent(Slot* slot) = 0;
  };

  ChunkLink() = default;
  ChunkLink(const ChunkLink&) = delete;
  ChunkLink& operator=(const ChunkLink&) = delete;
  virtual ~ChunkLink() = default;

  // Whether send() may be called: a credit and a queue entry are free.
  virtual bool can_send() const = 0;
  // Starts sending one chunk from memory, or from a slot. The bytes are read until on_sent.
  virtual void send(const Frame& chunk, SendBuffer payload) = 0;
  virtual void send(const Frame& chunk, Slot& slot) = 0;
  // Queues a frame without payload. ResourceExhausted: more than kMaxQueuedControls are queued.
  virtual absl::Status send_control(const Frame& control) = 0;
  // Whether such a frame waits for the far end, or for the connection, to take it.
  virtual bool has_queued_controls() const { return false; }

  // At the flow's destination: message `message` lands in `landing`. At most kMaxLandings are posted at a time.
  virtual absl::Status post_landing(std::uint64_t message, const Landing& landing) = 0;
  // Whether the far end can send a message's chunks only once it has been announced over this link, as over RDMA, where
  // the announcement brings address and key. Else the announcement may come over another circuit.
  virtual bool needs_announcements() const { return false; }
  // The message is complete: nothing more is written to its landing. The landing is valid until then.
  virtual void end_landing(std::uint64_t message) = 0;
  // At a relay's upstream side: one more chunk may arrive, into this slot. Without a slot the link reads no chunk.
  virtual void post_slot(Slot& slot) = 0;
  // Takes a posted slot back, empty. False: a chunk is in it or has begun to arrive there, or the neighbour may still
  // write into it (RDMA: this call recalls it, and a later call may succeed).
  virtual bool withdraw_slot(Slot& slot) = 0;

  // At a relay: how much the transport itself may buffer for this hop, as a TCP connection does. A link starts narrow;
  // a wide one may buffer what a long cable needs. narrow() returns whether no more is buffered than a narrow link may:
  // the queue must drain first, so the caller repeats the call until then.
  virtual void widen() = 0;
  virtual bool narrow() = 0;

  // Does all work possible without blocking, and reports it. A status other than OK is final: the hop is dead.
  // Cancelled: the peer closed it. Aborted: the peer failed the circuit; the message is its reason. NotFound
  // (no other fault has this code): the peer ended the flow (scope kFlow); the message is its reason. Any other code:
  // this side found that the connection broke, or that the peer broke the protocol.
  virtual absl::Status progress(Sink& sink) = 0;
  // The sending half of progress(): writes what can be written now, and does not check for arrivals.
  virtual absl::Status flush(Sink& sink) = 0;
  // Bytes this link has sent and received so far, headers included. Grows exactly when progress() moves something.
  virtual std::uint64_t bytes_moved() const = 0;

  // Sends the reason to the peer, as far as possible without blocking, and fences.
  virtual void fail(absl::string_view reason, FailureScope scope) = 0;
  // From then on nothing is written to a landing, nothing is read from a sent buffer, and progress() fails.
  virtual void fence() = 0;
};

// The status of a link whose peer has failed with this reason.
absl::Status received_failure(FailureScope scope, absl::string_view reason);
// Whether it is a status of received_failure(): its message names where the reason was found, so it needs no prefix.
bool was_received(const absl::Status& status);
// Whether no other circuit can carry the flow; for statuses of links (ChunkLink::progress()) and of dials
// (core/circuit/hop_dial.h), and of what passes them on.
bool ends_flow(const absl::Status& status);
// The scope to pass such a status on with.
FailureScope scope_of(const absl::Status& status);

// The reason with the end that found it (core/circuit/hop_names.h) before its message. One that was received already
// names the node that found it and stays unchanged, so that reasons do not grow with the path. `where` may be empty.
absl::Status found_at(absl::string_view where, const absl::Status& reason);

// Fences the link of an end that a flow gives up. The other end gets the reason: with `where` and scope kCircuit if it
// was found here, unchanged with scope kFlow if it ends the flow. A failure of the circuit that was received is not
// sent back.
void end_hop(ChunkLink& link, absl::string_view where, const absl::Status& reason);

// NCCL's maximum of requests on one connection (NCCL_NET_MAX_REQUESTS).
inline constexpr std::size_t kMaxLandings = 32;
// Frames without payload that a link queues: at a flow's destination at most 32 announcements, 32 acknowledgements, and
// where chunks are striped or a circuit has ended 64 reports of what has landed; at a relay of an alternate one for
// each change of its gate. A circuit that takes no frames while others end again and again, or its gate changes, may
// exceed the limit, and ends.
inline constexpr std::size_t kMaxQueuedControls = 128;

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CHUNK_LINK_H_
