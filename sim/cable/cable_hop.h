// A hop over a cable in virtual time: both directions (hop_direction.h), and the ChunkLinks of its two ends.
#ifndef CABLEWAY_SIM_CABLE_CABLE_HOP_H_
#define CABLEWAY_SIM_CABLE_CABLE_HOP_H_

#include <cstdint>

#include "core/flow/chunk_link.h"
#include "sim/cable/hop_direction.h"

namespace cableway::sim {

// One end of a hop, as seen by its circuit.
class CableLink final : public ChunkLink {
 public:
  CableLink(HopDirection& out, HopDirection& in) : out_(out), in_(in) {}

  bool can_send() const override { return dead_.ok() && out_.can_send(); }
  void send(const Frame& chunk, SendBuffer payload) override { out_.send(chunk, payload.data, nullptr); }
  void send(const Frame& chunk, Slot& slot) override;
  absl::Status send_control(const Frame& control) override { return out_.send_control(control); }
  absl::Status post_landing(std::uint64_t message, const Landing& landing) override {
    return in_.inbox().post_landing(message, landing);
  }
  void end_landing(std::uint64_t message) override { in_.inbox().end_landing(message); }
  void post_slot(Slot& slot) override { in_.inbox().post_slot(slot); }
  bool withdraw_slot(Slot& slot) override { return in_.inbox().withdraw_slot(slot); }
  void widen() override {}
  bool narrow() override { return true; }
  absl::Status progress(Sink& sink) override;
  absl::Status flush(Sink& sink) override;
  std::uint64_t bytes_moved() const override { return out_.bytes_sent() + in_.bytes_taken(); }
  void fail(absl::string_view reason, FailureScope scope) override;
  void fence() override;

  // Loses frames in flight and closes this end with this reason. The other end is not notified.
  void cut(const absl::Status& reason);
  // The end was cut, or its owner has closed it: it sends nothing any more.
  bool dead() const { return !dead_.ok(); }

 private:
  void end(absl::Status peer_status);

  HopDirection& out_;
  HopDirection& in_;
  absl::Status dead_;
};

class CableHop {
 public:
  CableHop(VirtualClock& clock, const WireFacts& facts, const HopDirection::Stages& forward,
           const HopDirection::Stages& back, Payload payload)
      : forward_(clock, facts, forward, payload), back_(clock, facts, back, payload) {}

  void set_users(LinkUser& source, LinkUser& destination);
  CableLink& source() { return source_; }
  CableLink& destination() { return destination_; }
  // Forward is from source to destination.
  HopDirection& forward() { return forward_; }
  const HopDirection& forward() const { return forward_; }
  HopDirection& back() { return back_; }

  // Closes both ends at once, as when the cable loses its carrier. wake_ends() lets them notice.
  void cut(const absl::Status& reason);
  void wake_ends();
  // Drops everything in both directions without notifying either end.
  void silence();
  // Nothing is scheduled, so it may be destroyed while the clock still runs.
  bool idle() const { return forward_.idle() && back_.idle(); }

 private:
  HopDirection forward_;
  HopDirection back_;
  CableLink source_{forward_, back_};
  CableLink destination_{back_, forward_};
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_CABLE_HOP_H_
