// One direction of a hop over a cable, in virtual time:
//
//   send() -> [buffer] -> [window] -> the port's queue -> transmitter -> latency -> [the far end's connector] -> inbox:
//   a landing, or a slot
//
// What it has of TCP: at most `window_bytes` are sent and not taken at the far end, so a chunk that finds no slot waits
// there, before the relay; and a buffer, if it is given one: a chunk counts as sent as soon as it is in there, and as
// many bytes as the kernel lets one connection have in a port's queue are before what other connections send. Without a
// buffer a chunk counts as sent when its last byte has left, as for RDMA. What it leaves out: acknowledgement segments,
// and losses, which cables repair below this. Frames without payload queue for the port as chunks do, together with
// those that came since the last turn.
#ifndef CABLEWAY_SIM_CABLE_HOP_DIRECTION_H_
#define CABLEWAY_SIM_CABLE_HOP_DIRECTION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "core/flow/frame.h"
#include "sim/cable/link_inbox.h"
#include "sim/cable/transmitter.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

// How bytes become time in one direction of a cable.
struct WireFacts {
  Duration latency{0};
  std::uint32_t packet_payload = 1448;  // bytes of the stream in one packet
  std::uint32_t packet_overhead = 66;   // bytes around them that the cable's rate counts as well
  std::uint64_t window_bytes = std::uint64_t{512} << 10;
  // Of the sending socket, and what of it is in the port's queue at a time: chunks follow until it is at least so much.
  // 0: no buffer, and one chunk; so always where payload is carried.
  std::uint64_t buffer_bytes = 0;
  std::uint64_t queue_bytes = 0;

  // Of so many bytes of the stream that leave together.
  std::uint64_t wire_bytes(std::uint64_t bytes) const;
};

// What has gone over a cable in one direction.
struct CableUse {
  std::uint64_t bytes = 0;  // as the cable's rate counts them
  std::uint64_t chunks = 0;
};

// Whether the payload's bytes cross, or are only counted.
enum class Payload { kCarried, kCounted };

// Somebody who moves a link when there is something to move. The call may send and post; it must not destroy the link.
class LinkUser {
 public:
  virtual ~LinkUser() = default;
  virtual void wake() = 0;
};

class HopDirection final : private Occurrence, private Transmitter::Sender {
 public:
  // Where it queues: at the sending port, and at the connector that the far end shares with other cables, if it does
  // (null); and where that is counted. All outlive this.
  struct Stages {
    Transmitter* out = nullptr;
    Transmitter* in = nullptr;
    CableUse* use = nullptr;
  };

  HopDirection(VirtualClock& clock, const WireFacts& facts, const Stages& stages, Payload payload);
  ~HopDirection() override;

  void set_users(LinkUser& sender, LinkUser& receiver);
  void wake_users();

  // The sending end. One chunk at a time; its bytes are read when it leaves, which may be after it counts as sent only
  // where there is a buffer.
  bool can_send() const { return !sending_.has_value(); }
  void send(const Frame& chunk, const std::byte* memory, Slot* slot);
  // The slot (null: memory) of the chunk that has left, once.
  std::optional<Slot*> take_sent();
  absl::Status send_control(const Frame& control);
  // Reads the sent chunk's bytes no more; one that has not left whole is lost.
  void stop_sending();
  // The last thing that arrives: the connection's end, and why.
  void send_end(absl::Status reason);

  // The receiving end.
  LinkInbox& inbox() { return inbox_; }
  const LinkInbox& inbox() const { return inbox_; }
  // Moves what has arrived into the inbox, as far as there are landings and slots. Status: the peer broke the protocol.
  absl::Status take_arrivals();
  // OK until the end has arrived.
  const absl::Status& ended() const { return ended_; }

  // Everything on its way is lost, and nothing will come any more.
  void silence();
  // Held: what would arrive waits, as for a transport that repeats what is lost until the cable carries again.
  void hold(bool held);
  // From now on a chunk counts as sent so much after it has left, and its memory may be read until then.
  void complete_late(Duration by) { completes_late_ = by; }
  // The next chunk that leaves will not be known to have been sent: the connection has failed.
  void fail_next_send() { fails_next_ = true; }
  bool send_failed() const { return send_failed_; }
  // Chunks whose memory had changed between leaving and counting as sent: somebody has used it too early.
  std::uint64_t changed_too_early() const { return changed_too_early_; }
  // Nothing is scheduled for it: it may be destroyed although the clock runs on.
  bool idle() const { return scheduled_ == 0; }

  // Of chunks, as of take_sent() and take_arrivals().
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t bytes_taken() const { return bytes_taken_; }

 private:
  struct Sending {
    Frame chunk;
    const std::byte* memory = nullptr;
    Slot* slot = nullptr;
    bool left = false;
    std::unique_ptr<std::byte[]> read;  // what was read of it, where it completes late
  };
  struct Parcel {
    Frame frame;
    std::unique_ptr<std::byte[]> payload;
  };
  struct Return {
    Instant when;
    std::uint64_t bytes = 0;
  };
  // The second stage: parcels that queue for the far end's connector.
  class Connector final : public Transmitter::Sender {
   public:
    explicit Connector(HopDirection& hop) : hop_(hop) {}
    std::uint64_t begin_parcel() override;
    void parcel_left() override;
    void arrive();
    std::size_t waiting = 0;

   private:
    HopDirection& hop_;
  };
  // Frames without payload queue by themselves: a chunk may wait for the window, they do not.
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
  bool queue_has_room() const { return queued_ == 0 || queued_bytes_ < facts_.queue_bytes; }
  void fill_queue();
  bool buffer_has_room() const { return facts_.buffer_bytes > 0 && buffered_bytes_ <= facts_.buffer_bytes; }
  void open_window(std::uint64_t bytes);
  void settle_returns();
  void count(const Frame& chunk);
  void withdraw();

  VirtualClock& clock_;
  WireFacts facts_;
  const Stages stages_;
  const Payload payload_;
  LinkUser* sender_ = nullptr;
  LinkUser* receiver_ = nullptr;

  std::optional<Sending> sending_;
  std::deque<Frame> buffered_;  // chunks that have not left; the first `queued_` are in the port's queue
  std::uint64_t buffered_bytes_ = 0;
  std::size_t queued_ = 0;
  std::uint64_t queued_bytes_ = 0;
  std::uint64_t outstanding_ = 0;  // bytes sent, and not known to be taken
  bool window_closed_ = false;     // a chunk waits for it
  std::deque<Return> returns_;     // what was taken, and when the sender learns it
  Connector connector_{*this};
  std::deque<Parcel> on_the_way_;  // the first `arrived_` of them have arrived
  std::size_t arrived_ = 0;
  ControlQueue control_queue_{*this};
  std::deque<Frame> controls_;
  std::size_t controls_arrived_ = 0;
  LinkInbox inbox_;
  absl::Status end_;
  absl::Status ended_;
  bool end_waits_ = false;  // until the last frame without payload has left
  bool silent_ = false;
  bool held_ = false;
  std::vector<std::uint64_t> held_arrivals_;
  Duration completes_late_{0};
  bool fails_next_ = false;
  bool send_failed_ = false;
  std::uint64_t changed_too_early_ = 0;
  std::size_t scheduled_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t bytes_taken_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_HOP_DIRECTION_H_
