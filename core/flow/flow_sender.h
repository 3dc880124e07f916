// The source end of a flow: sends messages in order, each only after its receiver has announced a receive for it. A
// message is done when its receiver has acknowledged all of it and no circuit reads its memory any more.
//
// A flow outlives its circuits (docs/decisions/0015). Chunks go over the primary circuit, which the receiver chooses,
// and those of large messages over all of its bundle, each over the circuit on which it will have landed first; over an
// alternate only while all ports on its way are idle (docs/decisions/0022). What a circuit that ends has not delivered
// is sent again over another one, once the receiver has told how much of it has landed:
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
  // The time, on any thread that uses the flow.
  using Now = std::function<Instant()>;
  // A flow that waits for a circuit where it has none. `now` times what lands, for the shares of a bundle and the
  // stamps of ports; null: circuits count as equally fast, and nothing is stamped.
  explicit FlowSender(Now now = nullptr, const Striping& striping = {}) : striping_(striping), clock_(std::move(now)) {}
  // A flow over one circuit with this first hop, which must outlive the sender. It ends with the circuit, whose link
  // the owner then fails or fences. `chunk_bytes`: the largest chunk that the circuit accepts, a multiple of 128.
  FlowSender(ChunkLink& first_hop, std::uint32_t chunk_bytes);

  // Whether another message may be posted: at most kMaxLandings are unfinished.
  bool can_post() const { return next_ - oldest_ < kMaxLandings; }
  // Posts a message, and sends at once what may be sent of it; its bytes are read until done(). Returns its sequence
  // number. Requires can_post(). A status other than OK is final for the flow.
  absl::StatusOr<std::uint64_t> post(const FlowBuffer& buffer, std::uint64_t bytes);

  absl::Status progress() override;
  absl::Status progress_in_loop(Instant now) override;
  bool done(std::uint64_t message) const override;
  std::uint64_t size(std::uint64_t message) const override { return at(message).bytes; }
  bool idle() const override { return oldest_ == next_; }
  // The sequence number that the next post() will take.
  std::uint64_t next() const { return next_; }

  // The name for a circuit to be set up. nullopt: five are alive or reserved.
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
  // Since construction.
  std::uint64_t shares_ended() const override { return shares_ended_; }
  std::uint64_t circuits_ended() const override { return ended_; }
  bool in_flight() const override { return outstanding() > 0; }

 private:
  friend class FlowState;  // of tests, which compare states
  // A slot for a circuit, and the sink of that circuit's link.
  class Circuit final : public ChunkLink::Sink {
   public:
    enum class State : std::uint8_t {
      kIdle,
      kReserved,
      kRetired,  // reserved, and retired by the receiver before it joined here
      kLive,
    };

    void open(FlowSender& flow, ChunkLink& link, std::string where, std::uint32_t chunk_bytes);
    // Nothing of it is read any more.
    void close(const absl::Status& reason);
    void send(const Frame& chunk, SendBuffer payload);

    // A reason that this end of it has found, with its name.
    absl::Status found(const absl::Status& reason) const { return found_at(where_, reason); }
    ChunkLink& link() { return *link_; }
    std::uint32_t chunk_bytes() const { return chunk_bytes_; }
    bool live() const { return state == State::kLive; }
    bool in_limbo() const { return !live() && given.size() > 0; }
    bool can_send() const { return live() && !given.full() && link_->can_send(); }
    // Numbers of chunks passed to the links of this slot, and of those that are no longer read; they complete in order.
    std::uint64_t sent() const { return sent_; }
    std::uint64_t completed() const { return completed_; }

    State state = State::kIdle;
    std::uint32_t generation = 0;
    std::uint32_t bundle = 0;  // 0: none
    bool is_alternate = false;
    // Messages from this one on that are large, and announced by the primary, are announced on it.
    std::optional<std::uint64_t> announced_from;
    std::uint64_t proven = 0;   // of an alternate: what has landed since its way was found idle
    bool closed_ahead = false;  // a relay has a port on its way in use
    PortGate gate;              // of the port by which it leaves
    ByteRate port_load;         // of that port
    ByteRate own_load;
    std::uint64_t load_ahead = 0;  // as relays have told
    Instant gate_seen;             // when it was last asked, as there was something to send
    Instant doubted;               // rate.since() when end_stuck() found it stuck
    std::uint32_t retiring = 0;    // the generation for which `retired` is due; 0: none
    bool unflushed = false;        // a frame was queued since its link has made progress
    QuietPolls polls;
    GivenChunks given;
    CircuitRate rate;
    std::uint64_t flow_landed = 0;  // landed_ when something landed over it last, or it had nothing to carry

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
    // By slot: how many chunks it must have completed before the message's memory is no longer read.
    std::array<std::uint64_t, kMaxFlowCircuits> last_chunk{};
    bool begun = false;  // a message of zero bytes still needs its one chunk
  };
  // A receive that was announced.
  struct Receive {
    std::uint64_t number = 0;  // its message's sequence number plus one; 0: none
    std::uint64_t capacity = 0;
    std::uint8_t announced_on = 0;  // slots, as bits
    std::uint8_t by_primary = 0;    // those of them that were the primary then
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
  // Asks over `circuit` for the counts that are due.
  void ask_for_counts(Circuit& circuit);
  void ask_all_for_counts();
  void send_announced();
  void poll(Circuit& circuit);
  // After the polls of a progress().
  absl::Status finish_progress();
  void flush_queued();
  // What may be sent next: all that is left of a message, or of a range that is sent again, and the circuit that takes
  // up to `most` bytes of it.
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
  // Whether a circuit of the bundle may be given large messages' chunks now.
  bool is_usable(Circuit& circuit, Instant time);
  bool competes(const Circuit& circuit) const { return !circuit.is_alternate || slot_of(circuit) == primary_; }
  bool is_announced_on(const Circuit& circuit, std::uint64_t message) const;
  // How much may be in flight on a circuit.
  std::uint64_t window(const Circuit& circuit) const;
  bool can_take(const Circuit& circuit) const;
  // The circuit that the next chunk goes over, of a message that is not striped, or of one that is; null: none can take
  // it now.
  Circuit* carrier(std::uint64_t message);
  Circuit* earliest(std::uint8_t among, Instant time);
  Duration try_again_after(std::uint8_t among) const;
  void choose_bundle();
  Instant now() const { return clock_ == nullptr ? Instant{} : clock_(); }
  // Where `before` bytes of it were not known to have landed.
  void measure(Circuit& circuit, std::uint64_t before);
  // A chunk of so many bytes is given to it now.
  void note_given(Circuit& circuit, std::uint64_t bytes);
  bool may_give(const MessageRange& range, std::uint64_t bytes, bool again) const;
  std::size_t outstanding() const;
  void give(Circuit& circuit, const MessageRange& chunk);
  // The receiver may have changed its primary circuit, even to one that never joined here.
  bool repeats_arrive() const { return named_ > 1; }
  void retire_done();
  bool finished(std::uint64_t message) const;
  // What progress() returns.
  absl::Status state() const;
  // The slots that have had a circuit, or have one reserved.
  std::span<Circuit> used() { return std::span(circuits_).first(used_); }
  std::span<const Circuit> used() const { return std::span(circuits_).first(used_); }
  std::size_t slot_of(const Circuit& circuit) const { return static_cast<std::size_t>(&circuit - circuits_.data()); }
  Message& at(std::uint64_t message) { return messages_[message % kMaxLandings]; }
  const Message& at(std::uint64_t message) const { return messages_[message % kMaxLandings]; }
  Receive& receive_of(std::uint64_t message) { return receives_[message % kMaxLandings]; }

  const Striping striping_;
  const Now clock_;
  std::array<Circuit, kMaxFlowCircuits> circuits_;
  std::uint32_t bundle_ = 0;  // of the primary
  std::uint8_t bundled_ = 0;  // live circuits of it, alternates included, as bits; 0: fewer than two
  // Over which the last announcement with offset 0 came; kMaxFlowCircuits: it has ended.
  std::size_t primary_ = 0;
  std::size_t used_ = 0;
  std::size_t live_ = 0;
  std::uint64_t named_ = 0;  // circuits, since construction
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
  std::uint64_t announced_ = 0;                 // messages below this one may be sent: all of them are announced
  std::uint64_t landed_ = 0;                    // bytes, over all circuits
  std::uint64_t ended_ = 0;
  std::uint64_t shares_ended_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FLOW_SENDER_H_
