// One direction of a pair of stub queue pairs over a cable, in virtual time:
//
//   post() -> the port's queue -> transmitter -> latency -> it has landed -> latency -> it is complete
//
// Writes keep their order here, and those of other queue pairs overtake them: now and then one takes much longer, and
// all that follow it. While the cable does not carry there nothing lands, and while it does not carry back nothing is
// complete; a device that waits for an answer for too long gives up. So it does where the other end is gone. What a
// fence finds on the wire lands late.
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
    std::uint32_t packet_overhead = 58;  // bytes around them that the cable's rate counts as well
    // The time that all retries take together.
    Duration gives_up_after = std::chrono::milliseconds(537);
    // By which a write, or its completion, may be later than others.
    Duration max_lag{0};
  };

  // Clock, network and transmitter outlive this.
  RdmaWire(VirtualClock& clock, StubNetwork& network, const Facts& facts, Transmitter& out)
      : clock_(clock), network_(network), facts_(facts), out_(out) {}
  ~RdmaWire() override;

  // Once, before anything is posted. Both pairs and both users are there until `from` has been fenced and the clock
  // does not run any more. Users are woken when poll() has something to say.
  void join(StubQueuePair& from, LinkUser& from_user, StubQueuePair& to, LinkUser& to_user);

  // Whether the cable does not carry there, and not back.
  void hold(bool there, bool back);
  // From now on completions are so much later.
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
  bool unanswered_ = false;  // the other end is gone, and a write has found out
  bool stalled_ = false;
  std::uint64_t stalls_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_STUB_RDMA_RDMA_WIRE_H_
