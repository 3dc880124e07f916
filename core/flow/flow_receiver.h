// The destination end of a flow: announces each posted receive to the source, checks the chunks that land, and
// acknowledges each message, in order, once it is complete.
//
// A flow outlives its circuits (docs/decisions/0015). The receiver counts the chunks that land over each circuit. As
// soon as a circuit ends, the receiver fences it, so that nothing more lands over it, and reports the count to the
// sender, which sends exactly the remaining chunks over another circuit. The receiver chooses the primary circuit, over
// which it announces and acknowledges. It repeats both when another circuit becomes the primary.
//
// The receiver also posts large receives on the other circuits of the primary's bundle, so that the sender can stripe
// messages over all of them. It announces each receive there if the link requires that
// (ChunkLink::needs_announcements()), else only the first one. An announcement reuses the place of an earlier
// message, so the acknowledgement of that message precedes it on the same circuit.
//
// One thread at a time. Allocates nothing after construction, except when a circuit joins or ends.
#ifndef CABLEWAY_CORE_FLOW_FLOW_RECEIVER_H_
#define CABLEWAY_CORE_FLOW_FLOW_RECEIVER_H_

#include <array>
#include <cstddef>
#include <cstdint>
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
#include "core/flow/flow_circuit.h"
#include "core/flow/landed_ranges.h"
#include "core/flow/striping.h"
#include "core/quiet_polls.h"

namespace cableway {

class FlowReceiver final : public CircuitOwner {
 public:
  // A flow that waits for a circuit whenever it has none.
  explicit FlowReceiver(const Striping& striping = {}) : small_message_(striping.small_message) {}
  // A flow over one circuit with this last hop, which must outlive the receiver. The flow ends with the circuit; the
  // owner then fails or fences the link.
  explicit FlowReceiver(ChunkLink& last_hop);

  // Whether another receive may be posted: at most kMaxLandings are unfinished.
  bool can_post() const { return next_ - oldest_ < kMaxLandings; }
  // Posts a receive and announces it. Its memory may be written until done(). Requires can_post().
  absl::StatusOr<std::uint64_t> post(const FlowLanding& landing);

  absl::Status progress() override;
  absl::Status progress_in_loop(Instant now) override;
  bool done(std::uint64_t message) const override { return message < oldest_; }
  // The message's size, which may be less than the receive's capacity.
  std::uint64_t size(std::uint64_t message) const override { return at(message).size; }
  bool idle() const override { return oldest_ == next_; }
  // The sequence number that the next post() will take.
  std::uint64_t next() const { return next_; }

  // Whether join() would succeed: the circuit is not a copy of an earlier one, and has not been retired.
  bool may_join(const CircuitName& circuit) const;
  // Fences a circuit that is still live in the same slot.
  absl::Status join(const CircuitName& circuit, ChunkLink& last_hop, std::string where);
  absl::Status join(const CircuitName& circuit, ChunkLink& last_hop, std::string where,
                    std::uint32_t /*chunk_bytes*/) override {
    return join(circuit, last_hop, std::move(where));
  }
  void stripe(const CircuitName& circuit, std::uint32_t bundle, CircuitShare share) override;
  void end_circuit(const CircuitName& circuit, const absl::Status& reason) override;
  // Makes a live circuit the primary. Queues frames as join() does.
  void prefer(const CircuitName& circuit);
  bool is_live(const CircuitName& circuit) const override;
  std::size_t live() const override { return live_; }
  // The slot of the primary circuit; nullopt: none is alive.
  std::optional<std::size_t> primary() const { return primary_; }
  CircuitName carrier() const override {
    if (!stripes_ || !primary_.has_value() || !is_live(traffic_.last())) return traffic_.last();
    return {static_cast<std::uint8_t>(*primary_), circuits_[*primary_].generation};
  }
  const absl::Status& last_end() const override { return last_end_; }
  std::uint64_t circuits_ended() const override { return ended_; }
  std::uint64_t arrived() const override { return traffic_.chunks(); }
  bool in_flight() const override { return false; }

 private:
  friend class FlowState;  // for tests that compare states
  // A slot for a circuit, and the sink of that circuit's link.
  class Circuit final : public ChunkLink::Sink {
   public:
    void open(FlowReceiver& flow, ChunkLink& link, std::uint32_t its_generation);
    ChunkLink& link() { return *link_; }

    std::uint32_t generation = 0;  // of the circuit that is or was in the slot; 0: none
    bool live = false;
    std::uint32_t bundle = 0;  // 0: none
    std::string where;
    std::uint64_t counted = 0;       // chunks that have landed over this circuit
    std::uint64_t reported = 0;      // of these, the number known to the sender from `landed` and acknowledgements
    std::uint64_t newest = 0;        // highest message of which a chunk has landed over this circuit
    bool announced_beside = false;   // a receive was announced over it while another circuit was the primary
    std::uint64_t acknowledged = 0;  // messages below this one are acknowledged over this circuit
    std::uint32_t landings = 0;      // messages posted on its link, as bits
    bool unflushed = false;          // a frame was queued since the link last made progress
    QuietPolls polls;

   private:
    absl::Status on_landed(const Frame& chunk) override;
    absl::Status on_chunk(const Frame&, Slot&) override;
    absl::Status on_control(const Frame& control) override;
    void on_sent(Slot*) override {}

    FlowReceiver* flow_ = nullptr;
    ChunkLink* link_ = nullptr;
  };
  struct Message {
    FlowLanding landing;
    std::uint64_t size = 0;
    LandedRanges landed;
    bool begun = false;
    bool whole = false;
  };

  absl::Status take_landed(Circuit& circuit, const Frame& chunk);
  absl::Status take_control(Circuit& circuit, const Frame& control);
  absl::Status take_retire(Circuit& circuit, const CircuitName& retired);
  absl::Status report(Circuit& circuit);
  void report_all();
  void poll(Circuit& circuit);
  // Completes a progress() after its polls.
  absl::Status finish_progress();
  void flush_queued();
  absl::Status violation(absl::string_view what);
  void end(Circuit& circuit, const absl::Status& reason) { end(circuit, reason, end_kind_of(reason)); }
  void end(Circuit& circuit, const absl::Status& reason, CircuitEndKind kind);
  // Frames go to live circuits only; a circuit that cannot take one ends.
  void send(Circuit& circuit, const Frame& control);
  void tell_count(Circuit& circuit, const Circuit& ended);
  void announce(Circuit& circuit, std::uint64_t message);
  void announce_all(Circuit& circuit);
  void acknowledge(Circuit& circuit);
  void make_primary(Circuit& circuit);
  // Whether chunks may arrive over the circuit: it is the primary, or in the primary's bundle.
  bool carries(const Circuit& circuit) const;
  bool is_announced_on(const Circuit& circuit, std::uint64_t message) const;
  void choose_bundle();
  void choose_primary();
  void end_landing(std::uint64_t message);
  void finish_whole();
  // The status that progress() returns.
  absl::Status state() const;
  // The slots that have held a circuit.
  std::span<Circuit> used() { return std::span(circuits_).first(used_); }
  std::size_t slot_of(const Circuit& circuit) const { return static_cast<std::size_t>(&circuit - circuits_.data()); }
  static std::uint32_t bit(std::uint64_t message) { return 1U << (message % kMaxLandings); }
  Message& at(std::uint64_t message) { return messages_[message % kMaxLandings]; }
  const Message& at(std::uint64_t message) const { return messages_[message % kMaxLandings]; }

  const std::uint64_t small_message_ = Striping{}.small_message;
  std::array<Circuit, kMaxFlowCircuits> circuits_;
  std::optional<std::size_t> primary_;
  std::uint32_t bundle_ = 0;  // the primary's
  bool stripes_ = false;      // several circuits of this bundle are live
  std::size_t used_ = 0;
  std::size_t live_ = 0;
  std::uint64_t joined_ = 0;
  std::uint64_t ended_ = 0;
  bool ends_with_its_circuit_ = false;
  absl::Status last_end_;
  absl::Status broken_;  // final
  // Bytes of messages below this one may arrive again, because a circuit has ended.
  std::uint64_t resent_below_ = 0;
  bool reports_all_ = false;  // chunks of such messages have landed in this progress()
  IslandPool islands_;
  std::array<Message, kMaxLandings> messages_;
  std::uint64_t oldest_ = 0;     // first message that is not done
  std::uint64_t last_size_ = 0;  // size of the message before it, whose place the next receive may reuse
  std::uint64_t next_ = 0;
  std::uint64_t after_large_ = 0;  // the sequence number after that of the newest large receive
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FLOW_RECEIVER_H_
