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

// Where a message lands on the receiving side. The link writes the bytes by aligned 8-byte stores in ascending order.
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

  // The largest chunk that the slot holds; a cut-through slot holds any size.
  virtual std::uint32_t max_chunk_bytes() const { return kMaxChunkBytes; }
  // Discards a chunk, or part of one, whose circuit has ended, so that another circuit can lease the slot.
  virtual void clear() { filled = drained = 0; }
  // For a circuit's floor, when its links become wide or narrow. The contract is that of ChunkLink::widen() and
  // narrow().
  virtual void widen() {}
  virtual bool narrow() { return true; }

  // Payload bytes of the current chunk that have arrived, and that have been forwarded. A cut-through transport
  // forwards while the chunk still arrives; a store-and-forward one reports a chunk only when it is complete.
  std::uint32_t filled = 0;
  std::uint32_t drained = 0;
};

class ChunkLink {
 public:
  // Called from within progress() and flush(). The owner may call send(), send_control() and post_*() from these
  // callbacks.
  class Sink {
   public:
    virtual ~Sink() = default;
    // A chunk for a posted landing has landed completely.
    virtual absl::Status on_landed(const Frame& chunk) = 0;
    // A chunk is in `slot`, or has begun to arrive there (Slot::filled).
    virtual absl::Status on_chunk(const Frame& chunk, Slot& slot) = 0;
    // A frame without payload from the flow's other end (is_control()) has arrived.
    virtual absl::Status on_control(const Frame& control) = 0;
    // A send() has completed locally: its memory or slot is no longer read. Called once for each send(), in order.
    // Null: the chunk was sent from memory.
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
  // Whether frames without payload wait for the far end, or for the connection, to accept them.
  virtual bool has_queued_controls() const { return false; }

  // At the flow's destination: message `message` is to land in `landing`. At most kMaxLandings are posted at a time.
  virtual absl::Status post_landing(std::uint64_t message, const Landing& landing) = 0;
  // Whether the far end can send a message's chunks only after the message has been announced over this link. That
  // holds for RDMA, where the announcement carries address and key. Otherwise the announcement may come over another
  // circuit.
  virtual bool needs_announcements() const { return false; }
  // The message is complete: nothing more is written to its landing. The landing is valid until then.
  virtual void end_landing(std::uint64_t message) = 0;
  // At a relay's upstream side: one more chunk may arrive, into this slot. Without a slot the link reads no chunk.
  virtual void post_slot(Slot& slot) = 0;
  // Takes a posted slot back, empty. False: the slot holds a chunk or part of one, or the neighbour may still write
  // into it (RDMA: this call recalls the slot, and a later call may succeed).
  virtual bool withdraw_slot(Slot& slot) = 0;

  // At a relay: sets how much the transport itself may buffer for this hop, as a TCP connection does. A link starts
  // narrow; a wide link may buffer what a long cable needs. narrow() returns whether the buffered data is within a
  // narrow link's limit. The queue must drain first, so the caller repeats the call until then.
  virtual void widen() = 0;
  virtual bool narrow() = 0;

  // Does all work possible without blocking, and reports it. A status other than OK is final: the hop is dead.
  // Cancelled: the peer closed the connection. Aborted: the peer failed the circuit; the message is its reason.
  // NotFound (no other fault has this code): the peer ended the flow (scope kFlow); the message is its reason. Any
  // other code: this side found that the connection broke, or that the peer violated the protocol.
  virtual absl::Status progress(Sink& sink) = 0;
  // The sending half of progress(): writes what can be written now, and does not check for arrivals.
  virtual absl::Status flush(Sink& sink) = 0;
  // The number of bytes that this link has sent and received, headers included. Grows exactly when progress() moves
  // data.
  virtual std::uint64_t bytes_moved() const = 0;

  // Sends the reason to the peer, as far as possible without blocking, and fences.
  virtual void fail(absl::string_view reason, FailureScope scope) = 0;
  // After this call nothing is written to a landing, nothing is read from a sent buffer, and progress() fails.
  virtual void fence() = 0;
};

// What every link says of a connection that the other side's kernel has closed in order, as when an application closes
// a flow or a process ends. The cable has carried that, so it is no fault of a cable.
inline constexpr char kPeerClosed[] = "the peer closed the connection";
// Whether the status, or the reason that a relay has passed on, says so.
bool says_peer_closed(const absl::Status& status);
// The first relay of a circuit appends this to kPeerClosed: a source closes circuits that it leaves, without a fault.
inline constexpr char kPeerIsSource[] = ", which is the circuit's source";
bool says_source_closed(const absl::Status& status);

// The status of a link whose peer has failed with this reason. An open circuit cannot be refused, so kBusy is as
// kCircuit.
absl::Status received_failure(FailureScope scope, absl::string_view reason);
// Whether the status came from received_failure(). Its message then names where the fault was found, and needs no
// prefix.
bool was_received(const absl::Status& status);
// Whether the status means that no other circuit can carry the flow. For statuses of links (ChunkLink::progress())
// and of dials (core/circuit/hop_dial.h), and for statuses derived from them.
bool ends_flow(const absl::Status& status);
// The scope with which such a status is passed on.
FailureScope scope_of(const absl::Status& status);

// Prefixes the reason with the hop end that found it (core/circuit/hop_names.h). A received reason already names the
// node that found it and stays unchanged, so that reasons do not grow with the path. `where` may be empty.
absl::Status found_at(absl::string_view where, const absl::Status& reason);

// Fences the link of a hop end that a flow gives up, and sends the reason to the other end: with `where` and scope
// kCircuit if this end found the fault, unchanged with scope kFlow if the reason ends the flow. A received failure of
// the circuit is not sent back.
void end_hop(ChunkLink& link, absl::string_view where, const absl::Status& reason);

// NCCL's maximum of requests on one connection (NCCL_NET_MAX_REQUESTS).
inline constexpr std::size_t kMaxLandings = 32;
// The maximum of frames without payload that a link queues. A flow's destination queues at most 32 announcements, 32
// acknowledgements and, where chunks are striped or a circuit has ended, 64 reports of what has landed. A relay of an
// alternate queues one frame for each change of its gate. A circuit that accepts no frames may exceed the limit if
// other circuits keep ending or its gate keeps changing; it then ends.
inline constexpr std::size_t kMaxQueuedControls = 128;

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CHUNK_LINK_H_
