// The source end of a flow: sends messages in order, each only after the receiver has announced a receive for it. A
// message is done when the receiver has acknowledged all of it and no circuit reads its memory any more.
//
// A flow outlives its circuits (docs/decisions/0015). Chunks go over the primary circuit, which the receiver chooses.
// Chunks of large messages go over all circuits of the primary's bundle, each over the circuit on which it is
// expected to land first, and over an alternate only while all ports on its path are idle (docs/decisions/0022).
// Chunks that a circuit has not delivered when it ends are sent again over another one, once the receiver has
// reported how many have landed:
//
//   join()                 live ---- the link fails, end_circuit(), or `retired` arrives ----> in limbo
//                                    fenced; `retire` goes out on every live circuit               |
//   chunks up to the count have landed; the others are sent again <------------------ `retired` ---+
//
// One thread at a time. Allocates nothing after construction, except when a circuit joins or ends.
#ifndef CABLEWAY_CORE_FLOW_FLOW_SENDER_H_
#define CABLEWAY_CORE_FLOW_FLOW_SENDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/clock.h"
#include "core/flow/chunk_link.h"
#include "core/flow/circuit_end.h"
#include "core/flow/circuit_name.h"
#include "core/flow/circuit_owner.h"
#include "core/flow/circuit_rate.h"
#include "core/flow/flow_circuit.h"
#include "core/flow/given_chunks.h"
#include "core/flow/resend_ranges.h"
#include "core/flow/striping.h"
#include "core/gate/byte_rate.h"
#include "core/gate/port_gate.h"
#include "core/quiet_polls.h"

namespace cableway {

class FlowSender final : public CircuitOwner {
 public:
  // Returns the time; called on any thread that uses the flow.
  using Now = std::function<Instant()>;
  // A flow that waits for a circuit whenever it has none. `now` times landings, for the shares of a bundle and the
  // stamps of ports. Null: circuits count as equally fast, and no port is stamped.
  explicit FlowSender(Now now = nullptr, const Striping& striping = {}) : striping_(striping), clock_(std::move(now)) {}
  // A flow over one circuit with this first hop, which must outlive the sender. The flow ends with the circuit; the
  // owner then fails or fences the link. `chunk_bytes`: the largest chunk that the circuit accepts, a multiple of
  // 128.
  FlowSender(ChunkLink& first_hop, std::uint32_t chunk_bytes);

  // Whether another message may be posted: at most kMaxLandings are unfinished.
  bool can_post() const { return next_ - oldest_ < kMaxLandings; }
  // Posts a message and sends at once what may be sent of it. Its bytes are read until done(). Returns its sequence
  // number. Requires can_post(). A status other than OK is final for the flow.
  absl::StatusOr<std::uint64_t> post(const FlowBuffer& buffer, std::uint64_t bytes);

  absl::Status progress() override;
  absl::Status progress_in_loop(Instant now) override;
  bool done(std::uint64_t message) const override;
  std::uint64_t size(std::uint64_t message) const override { return at(message).bytes; }
  bool idle() const override { return oldest_ == next_; }
  // The sequence number that the next post() will take.
  std::uint64_t next() const { return next_; }

  // Reserves the name of a circuit to be set up. nullopt: five are live or reserved, or every other slot is in limbo.
  std::optional<CircuitName> reserve();
  // The set-up of a reserved circuit has failed. Queues frames as join() does.
  void release(const CircuitName& reserved);
  absl::Status join(const CircuitName& reserved, ChunkLink& first_hop, std::string where,
                    std::uint32_t chunk_bytes) override;
  void stripe(const CircuitName& circuit, std::uint32_t bundle, CircuitShare share) override;
  void leaves_by(const CircuitName& circuit, EgressPort port) override;
  void end_circuit(const CircuitName& circuit, const absl::Status& reason) override;
  void end_stuck() override;
  CircuitLoads loads() override;
  bool is_live(const CircuitName& circuit) const override;
  std::size_t live() const override { return live_; }
  const absl::Status& last_end() const override { return last_end_; }

  bool shares(const CircuitName& circuit) const override {
    return is_live(circuit) && (bundled_ & (1U << circuit.slot)) != 0;
  }
  CircuitName carrier() const override {
    if (!shares(traffic_.last()) || primary_ == kMaxFlowCircuits) return traffic_.last();
    return {static_cast<std::uint8_t>(primary_), circuits_[primary_].generation};
  }
  // The numbers since construction.
  std::uint64_t shares_ended() const override { return shares_ended_; }
  std::uint64_t circuits_ended() const override { return ended_; }
  std::uint64_t arrived() const override { return unacknowledged_ + landed_ + counted_; }
  bool in_flight() const override { return outstanding() > 0; }

 private:
  friend class FlowState;  // for tests that compare states
  // A slot for a circuit, and the sink of that circuit's link.
  class Circuit final : public ChunkLink::Sink {
   public:
    enum class State : std::uint8_t {
      kIdle,
      kReserved,
      kRetired,  // reserved, and retired by the receiver before joining here
      kLive,
    };

    void open(FlowSender& flow, ChunkLink& link, std::string where, std::uint32_t chunk_bytes);
    // Afterwards nothing of the circuit is read.
    void close(const absl::Status& reason);
    void send(const Frame& chunk, SendBuffer payload);

    // Prefixes a reason that this end has found with the end's name.
    absl::Status found(const absl::Status& reason) const { return found_at(where_, reason); }
    ChunkLink& link() { return *link_; }
    std::uint32_t chunk_bytes() const { return chunk_bytes_; }
    bool live() const { return state == State::kLive; }
    bool in_limbo() const { return !live() && given.size() > 0; }
    bool can_send() const { return live() && !given.full() && link_->can_send(); }
    // The number of chunks passed to the links of this slot, and of those that are no longer read. They complete in
    // order.
    std::uint64_t sent() const { return sent_; }
    std::uint64_t completed() const { return completed_; }

    State state = State::kIdle;
    std::uint32_t generation = 0;
    std::uint32_t bundle = 0;  // 0: none
    bool is_alternate = false;
    // Large messages from this one on that the primary announces count as announced on this circuit.
    std::optional<std::uint64_t> announced_from;
    std::uint64_t proven = 0;   // of an alternate: bytes that have landed since its path was found idle
    bool closed_ahead = false;  // a relay reports that a port on the circuit's path is in use
    PortGate gate;              // of the port through which the circuit leaves
    ByteRate port_load;         // of that port
    ByteRate own_load;
    std::uint64_t load_ahead = 0;  // as relays have reported
    Instant gate_seen;             // when the gate was last checked with data to send
    Instant doubted;               // rate.since() when end_stuck() found it stuck
    std::uint32_t retiring = 0;    // the generation for which `retired` is due; 0: none
    bool unflushed = false;        // a frame was queued since the link last made progress
    QuietPolls polls;
    GivenChunks given;
    CircuitRate rate;
    std::uint64_t flow_landed = 0;  // landed_ at the circuit's latest landing, or when it last had nothing to carry

   private:
    absl::Status on_landed(const Frame&) override;
    absl::Status on_chunk(const Frame&, Slot&) override;
    absl::Status on_control(const Frame& control) override;
    void on_sent(Slot*) override;

    FlowSender* flow_ = nullptr;
    ChunkLink* link_ = nullptr;
    std::string where_;
    std::uint32_t chunk_bytes_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t completed_ = 0;
  };
  struct Message {
    FlowBuffer buffer;
    std::uint64_t bytes = 0;
    std::uint64_t sent = 0;
    // By slot: the number of chunks that the slot must have completed before the message's memory is no longer read.
    std::array<std::uint64_t, kMaxFlowCircuits> last_chunk{};
    bool begun = false;  // a message of zero bytes still needs its one chunk
  };
  // An announced receive.
  struct Receive {
    std::uint64_t number = 0;  // its message's sequence number plus one; 0: none
    std::uint64_t capacity = 0;
    std::uint8_t announced_on = 0;  // slots, as bits
    std::uint8_t by_primary = 0;    // of these, the slots that were the primary at that time
  };

  absl::Status take_control(Circuit& circuit, const Frame& control);
  absl::Status take_announcement(Circuit& circuit, const Frame& control);
  absl::Status take_gate(Circuit& circuit, const Frame& control);
  absl::Status take_acknowledgement(const Frame& control);
  absl::Status take_landed(Circuit& circuit, const Frame& control);
  absl::Status take_retired(const Circuit& circuit, const Frame& control);
  absl::Status violation(absl::string_view what);
  void end(Circuit& circuit, const absl::Status& reason) { end(circuit, reason, end_kind_of(reason)); }
  void end(Circuit& circuit, const absl::Status& reason, CircuitEndKind kind);
  // Asks over `circuit` for the outstanding counts.
  void ask_for_counts(Circuit& circuit);
  void ask_all_for_counts();
  void send_announced();
  void poll(Circuit& circuit);
  // Completes a progress() after its polls.
  absl::Status finish_progress();
  void flush_queued();
  // What to send next: the rest of a message or of a range that is sent again, and the circuit that takes up to
  // `most` bytes of it.
  struct Turn {
    MessageRange range;
    Circuit* circuit = nullptr;
    std::uint64_t most = 0;
    bool again = false;
  };
  std::optional<Turn> next_turn();
  std::optional<Turn> later_turn(Instant time);
  // The circuits among which the message's chunks are shared now, as bits; 0: it is not striped.
  std::uint8_t stripes(std::uint64_t message, Instant time);
  // Whether a circuit of the bundle may get chunks of large messages now.
  bool is_usable(Circuit& circuit, Instant time);
  bool competes(const Circuit& circuit) const { return !circuit.is_alternate || slot_of(circuit) == primary_; }
  bool is_announced_on(const Circuit& circuit, std::uint64_t message) const;
  // The maximum of bytes in flight on a circuit.
  std::uint64_t window(const Circuit& circuit) const;
  bool can_take(const Circuit& circuit) const;
  // The circuit for the next chunk: carrier() for a message that is not striped, earliest() for one that is. Null: no
  // circuit can take the chunk now.
  Circuit* carrier(std::uint64_t message);
  Circuit* earliest(std::uint8_t among, Instant time);
  Duration try_again_after(std::uint8_t among) const;
  void choose_bundle();
  Instant now() const { return clock_ == nullptr ? Instant{} : clock_(); }
  // Updates the rate after a report. Before the report, `before` bytes were not known to have landed.
  void measure(Circuit& circuit, std::uint64_t before);
  // Records that a chunk of `bytes` goes to the circuit now.
  void note_given(Circuit& circuit, std::uint64_t bytes);
  bool may_give(const MessageRange& range, std::uint64_t bytes, bool again) const;
  std::size_t outstanding() const;
  void give(Circuit& circuit, const MessageRange& chunk);
  // Whether frames may be repeated: the receiver may have changed its primary, even to a circuit that never joined
  // here.
  bool repeats_arrive() const { return named_ > 1; }
  void retire_done();
  bool finished(std::uint64_t message) const;
  // The status that progress() returns.
  absl::Status state() const;
  // The slots that have held a circuit or a reservation.
  std::span<Circuit> used() { return std::span(circuits_).first(used_); }
  std::span<const Circuit> used() const { return std::span(circuits_).first(used_); }
  std::size_t slot_of(const Circuit& circuit) const { return static_cast<std::size_t>(&circuit - circuits_.data()); }
  Message& at(std::uint64_t message) { return messages_[message % kMaxLandings]; }
  const Message& at(std::uint64_t message) const { return messages_[message % kMaxLandings]; }
  Receive& receive_of(std::uint64_t message) { return receives_[message % kMaxLandings]; }

  const Striping striping_;
  const Now clock_;
  std::array<Circuit, kMaxFlowCircuits> circuits_;
  std::uint32_t bundle_ = 0;  // the primary's
  std::uint8_t bundled_ = 0;  // live circuits of this bundle, alternates included, as bits; 0: fewer than two
  // The slot of the latest announcement with offset 0. kMaxFlowCircuits: that circuit has ended.
  std::size_t primary_ = 0;
  std::size_t used_ = 0;
  std::size_t live_ = 0;
  std::uint64_t named_ = 0;  // circuits named since construction
  bool ends_with_its_circuit_ = false;
  bool seeks_reason_ = false;  // take_retired() polls the link of the retired circuit
  absl::Status last_end_;
  absl::Status broken_;  // final
  ResendRanges again_;
  std::array<Message, kMaxLandings> messages_;
  std::array<Receive, kMaxLandings> receives_;  // by sequence number
  std::uint64_t oldest_ = 0;                    // first message that is not done
  std::uint64_t unacknowledged_ = 0;            // first message that is not acknowledged
  std::uint64_t sending_ = 0;                   // message whose chunks are being sent
  std::uint64_t next_ = 0;                      // sequence number of the next post()
  std::uint64_t after_large_ = 0;               // the sequence number after that of the newest large message
  std::uint64_t announced_ = 0;                 // messages below this one may be sent: all of them are announced
  std::uint64_t landed_ = 0;                    // bytes, over all circuits
  std::uint64_t counted_ = 0;                   // bytes that `retired` frames reported as landed
  std::uint64_t ended_ = 0;
  std::uint64_t shares_ended_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FLOW_SENDER_H_
