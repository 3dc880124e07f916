// One direction of a pair of stub queue pairs over a cable, in virtual time:
//
//   post() -> the port's queue -> transmitter -> latency -> landed -> latency -> completed
//
// Writes of one queue pair stay in order, and those of other queue pairs may overtake them: occasionally a write, and
// with it all that follow, is much slower. While the cable does not carry forward nothing lands, and while it does not
// carry back nothing completes; a device that waits too long for an acknowledgement gives up, also if the other end has
// been destroyed. Writes that a fence finds on the wire land late.
#ifndef CABLEWAY_SIM_STUB_RDMA_RDMA_WIRE_H_
#define CABLEWAY_SIM_STUB_RDMA_RDMA_WIRE_H_

#include <cstddef>
#include <cstdint>

#include "sim/cable/hop_direction.h"
#include "sim/cable/transmitter.h"
#include "sim/stub_rdma/stub_network.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

class RdmaWire final : public StubQueuePair::Mover, private Occurrence, private Transmitter::Sender {
 public:
  struct Facts {
    Duration latency{0};
    std::uint32_t packet_payload = 1024;
    std::uint32_t packet_overhead = 58;  // header bytes per packet that count towards the cable's rate
    // The total time of all retries.
    Duration gives_up_after = std::chrono::milliseconds(537);
    // The maximum extra delay of a write or its completion.
    Duration max_lag{0};
  };

  // Clock, network and transmitter outlive this.
  RdmaWire(VirtualClock& clock, StubNetwork& network, const Facts& facts, Transmitter& out)
      : clock_(clock), network_(network), facts_(facts), out_(out) {}
  ~RdmaWire() override;

  // To be called once, before anything is posted. Both pairs and both users exist until `from` has been fenced and the
  // clock no longer runs. Users are woken when poll() has results.
  void join(StubQueuePair& from, LinkUser& from_user, StubQueuePair& to, LinkUser& to_user);

  // Whether the cable blocks traffic forward, and back.
  void hold(bool there, bool back);
  // Delays completions by this much from now on.
  void complete_late(Duration by) { late_ = by; }

 private:
  enum What : std::uint64_t { kLands, kLandsLate, kCompletes, kGivesUp };

  void on_posted(std::size_t writes) override;
  void on_fenced(std::size_t late) override;
  std::uint64_t begin_parcel() override;
  void parcel_left() override;
  void occur(std::uint64_t argument) override;
  void land();
  void land_late();
  void complete();
  void give_up();
  void look_for_stall();
  Instant after_lag(Instant& last, Duration takes);
  void wake_users();

  VirtualClock& clock_;
  StubNetwork& network_;
  const Facts facts_;
  Transmitter& out_;
  StubQueuePair* from_ = nullptr;  // null: not joined, or fenced
  StubQueuePair* to_ = nullptr;
  LinkUser* from_user_ = nullptr;
  LinkUser* to_user_ = nullptr;

  std::size_t queued_ = 0;       // writes that have not left
  std::size_t outstanding_ = 0;  // writes that are not complete
  Instant last_landing_;
  Instant last_completion_;
  Duration late_{0};
  bool held_there_ = false;
  bool held_back_ = false;
  std::size_t landings_held_ = 0;
  std::size_t completions_held_ = 0;
  bool unanswered_ = false;  // a write has detected that the other end no longer exists
  bool stalled_ = false;
  std::uint64_t stalls_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_STUB_RDMA_RDMA_WIRE_H_
