// One direction of a hop over a cable, in virtual time:
//
//   send() -> [buffer] -> [window] -> the port's queue -> transmitter -> [further stages] -> latency ->
//   [stages of the receiver] -> inbox: a landing, or a slot
//
// Modelled after TCP: at most `window_bytes` are sent and not yet consumed by the receiver, so a chunk without a free
// slot waits in front of the relay. With a send buffer, a chunk counts as sent as soon as it is in the buffer; in the
// port's queue, other connections wait behind as many of its bytes as the kernel lets one connection queue there.
// Without a buffer a chunk counts as sent when its last byte has left, as with RDMA. Not modelled: acknowledgement
// segments, and losses, which are repaired below this layer. Frames without payload queue for the port like chunks,
// batched with those added since the last turn.
#ifndef CABLEWAY_SIM_CABLE_HOP_DIRECTION_H_
#define CABLEWAY_SIM_CABLE_HOP_DIRECTION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "core/flow/frame.h"
#include "sim/cable/link_inbox.h"
#include "sim/cable/transmitter.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

// The parameters that convert bytes to time in one direction of a cable.
struct WireFacts {
  Duration latency{0};
  std::uint32_t packet_payload = 1448;  // stream bytes per packet
  std::uint32_t packet_overhead = 66;   // header bytes per packet that count towards the cable's rate
  std::uint64_t window_bytes = std::uint64_t{512} << 10;
  // The size of the socket's send buffer, and how much of it is in the port's queue at a time: chunks are queued until
  // they reach that size. 0: no buffer, and one chunk at a time; always so if payload is carried.
  std::uint64_t buffer_bytes = 0;
  std::uint64_t queue_bytes = 0;

  // The bytes on the wire for this many stream bytes that leave together.
  std::uint64_t wire_bytes(std::uint64_t bytes) const;
};

// What has crossed a cable in one direction.
struct CableUse {
  std::uint64_t bytes = 0;  // as the cable's rate counts them
  std::uint64_t chunks = 0;
};

// Whether payload bytes are transferred or only counted.
enum class Payload { kCarried, kCounted };

// Is woken when a link can progress. wake() may send and post; it must not destroy the link.
class LinkUser {
 public:
  virtual ~LinkUser() = default;
  virtual void wake() = 0;
};

class HopDirection final : private Occurrence, private Transmitter::Sender {
 public:
  // The queues that whole chunks pass one after the other, and the counters. All outlive this. A hop that is limited by
  // several parts (a PCIe root, a port, a plug) has a stage for each that it shares with other hops.
  struct Stages {
    Transmitter* out = nullptr;  // at the sending port: a chunk has left when it has passed this one
    CableUse* use = nullptr;
    std::vector<Transmitter*> near = {};  // after it, before the latency
    std::vector<Transmitter*> far = {};   // after the latency
  };

  HopDirection(VirtualClock& clock, const WireFacts& facts, const Stages& stages, Payload payload);
  ~HopDirection() override;

  void set_users(LinkUser& sender, LinkUser& receiver);
  void wake_users();

  // The sending end. One chunk at a time. Its bytes are read when it leaves, which is after it counts as sent only if
  // there is a buffer.
  bool can_send() const { return !sending_.has_value(); }
  void send(const Frame& chunk, const std::byte* memory, Slot* slot);
  // The slot (null: memory) of the chunk that was sent; returned once.
  std::optional<Slot*> take_sent();
  absl::Status send_control(const Frame& control);
  // Stops reading the sent chunk's bytes; a chunk that has not left completely is lost.
  void stop_sending();
  // Sends the connection's end with its reason, as the last item to arrive.
  void send_end(absl::Status reason);

  // The receiving end.
  LinkInbox& inbox() { return inbox_; }
  const LinkInbox& inbox() const { return inbox_; }
  // Moves arrived frames into the inbox, as far as there are landings and slots. An error: the peer broke the protocol.
  absl::Status take_arrivals();
  // OK until the connection's end has arrived.
  const absl::Status& ended() const { return ended_; }

  // Drops everything in flight and everything sent from now on.
  void silence();
  // While held, arrivals wait, as with a transport that retransmits lost data until the cable carries again.
  void hold(bool held);
  // From now on a chunk counts as sent this long after it has left; its memory may be read until then.
  void complete_late(Duration by) { completes_late_ = by; }
  // The next chunk that leaves never completes: the connection has failed.
  void fail_next_send() { fails_next_ = true; }
  bool send_failed() const { return send_failed_; }
  // From now on one bit changes on the cable in every `chunks`-th chunk, below the checksum; 0: in none.
  void flip_every(std::uint64_t chunks) { flip_every_ = chunks; }
  std::uint64_t flipped() const { return flipped_; }
  // Chunks whose memory changed between leaving and counting as sent: the owner reused it too early.
  std::uint64_t changed_too_early() const { return changed_too_early_; }
  // Nothing is scheduled, so it may be destroyed while the clock still runs.
  bool idle() const { return scheduled_ == 0; }

  // Payload bytes of chunks, counted by take_sent() and take_arrivals().
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t bytes_taken() const { return bytes_taken_; }

 private:
  struct Sending {
    Frame chunk;
    const std::byte* memory = nullptr;
    Slot* slot = nullptr;
    bool left = false;
    std::unique_ptr<std::byte[]> read;  // a copy of the bytes that left, if it completes late
  };
  struct Parcel {
    Frame frame;
    std::unique_ptr<std::byte[]> payload;
  };
  struct Return {
    Instant when;
    std::uint64_t bytes = 0;
  };
  // Parcels that queue at a stage after the first.
  class Stage final : public Transmitter::Sender {
   public:
    Stage(HopDirection& hop, Transmitter& queue, std::size_t place) : hop_(hop), queue_(queue), place_(place) {}
    std::uint64_t begin_parcel() override;
    void parcel_left() override;
    void arrive();
    void withdraw() { queue_.withdraw(*this); }
    std::size_t waiting() const { return waiting_; }

   private:
    HopDirection& hop_;
    Transmitter& queue_;
    const std::size_t place_;
    std::size_t waiting_ = 0;
  };
  // Frames without payload have their own queue, since only chunks wait for the window.
  class ControlQueue final : public Transmitter::Sender {
   public:
    explicit ControlQueue(HopDirection& hop) : hop_(hop) {}
    void add();
    bool busy() const { return waiting_ > 0 || leaving_ > 0; }
    std::uint64_t begin_parcel() override;
    void parcel_left() override;

   private:
    HopDirection& hop_;
    std::size_t waiting_ = 0;
    std::size_t leaving_ = 0;
    std::uint64_t leaving_bytes_ = 0;
  };
  enum What : std::uint64_t { kReachesFarEnd, kControlsArrive, kWindowOpens, kEndArrives, kCompletes };

  void occur(std::uint64_t argument) override;
  std::uint64_t begin_parcel() override;
  void parcel_left() override;
  void schedule(Duration after, What what, std::uint64_t count = 0);
  void complete();
  void arrive(std::uint64_t argument);
  void enter_stage(std::size_t place);
  const Frame& first_at(std::size_t place) const;
  bool queue_has_room() const { return queued_ == 0 || queued_bytes_ < facts_.queue_bytes; }
  void fill_queue();
  bool buffer_has_room() const { return facts_.buffer_bytes > 0 && buffered_bytes_ <= facts_.buffer_bytes; }
  void open_window(std::uint64_t bytes);
  void settle_returns();
  void count(const Frame& chunk);
  void flip(std::span<std::byte> payload);
  void withdraw();

  VirtualClock& clock_;
  WireFacts facts_;
  Transmitter& out_;
  CableUse& use_;
  const std::size_t near_stages_;
  std::vector<Stage> stages_;  // near and far ones; they do not move, as transmitters point to them
  const Payload payload_;
  LinkUser* sender_ = nullptr;
  LinkUser* receiver_ = nullptr;

  std::optional<Sending> sending_;
  std::deque<Frame> buffered_;  // chunks that have not left; the first `queued_` are in the port's queue
  std::uint64_t buffered_bytes_ = 0;
  std::size_t queued_ = 0;
  std::uint64_t queued_bytes_ = 0;
  std::uint64_t outstanding_ = 0;  // bytes sent and not yet known to be consumed
  bool window_closed_ = false;     // a chunk waits for the window
  std::deque<Return> returns_;     // consumed bytes, and when the window update reaches the sender
  // The first `arrived_` of them have arrived, then come those at far stages, on the cable, and at near stages.
  std::deque<Parcel> in_flight_;
  std::size_t arrived_ = 0;
  std::size_t travelling_ = 0;
  ControlQueue control_queue_{*this};
  std::deque<Frame> controls_;
  std::size_t controls_arrived_ = 0;
  LinkInbox inbox_;
  absl::Status end_;
  absl::Status ended_;
  bool end_waits_ = false;  // the end waits until the last frame without payload has left
  bool silent_ = false;
  bool held_ = false;
  std::vector<std::uint64_t> held_arrivals_;
  Duration completes_late_{0};
  bool fails_next_ = false;
  std::uint64_t flip_every_ = 0;
  std::uint64_t not_flipped_ = 0;  // chunks with payload, since the last one that was
  std::uint64_t flipped_ = 0;
  bool send_failed_ = false;
  std::uint64_t changed_too_early_ = 0;
  std::size_t scheduled_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t bytes_taken_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_HOP_DIRECTION_H_
