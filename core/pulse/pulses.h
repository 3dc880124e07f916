// Sends pulses over each of a node's cables, receives the other ends' pulses, and has a CableJudge decide on each
// cable.
//
// The owner calls tick() at the time that next() returns, after it has passed on everything that has arrived.
// core/linux/pulse runs this class on its own thread; tests run it in virtual time.
#ifndef CABLEWAY_CORE_PULSE_PULSES_H_
#define CABLEWAY_CORE_PULSE_PULSES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/crypto/datagram_seal.h"
#include "core/crypto/replay_window.h"
#include "core/pulse/cable_judge.h"
#include "core/pulse/loss_meter.h"
#include "core/pulse/pulsed_cable.h"
#include "core/pulse/recent_maximum.h"

namespace cableway {

// One thread. Allocates nothing between calls of set_cables(), except for verdicts.
class Pulses {
 public:
  // Cables beyond this number get no pulses and are not judged.
  static constexpr std::size_t kMaxCables = 1024;

  // What the host provides.
  class Host {
   public:
    virtual ~Host() = default;
    // False: nothing was sent.
    virtual bool send(const PulsedCable& cable, std::span<const std::byte> bytes) = 0;
    // Whether the neighbour's host has given a sign of life since the previous call for this cable: a packet that
    // arrived, or an answer of its kernel. Starts the next query. Does not wait.
    virtual bool look_for_signs(const PulsedCable& cable) = 0;
    // Listener functions; they may not call the Pulses.
    virtual void verdict(const PulsedCable& cable, const CableVerdict& verdict) = 0;
    // The cable loses this percentage of the neighbour's packets; 0: no longer.
    virtual void loss(const PulsedCable& cable, unsigned percent) = 0;
  };

  // `seal` and `host` must outlive this. Precondition: an interval of 1 to kMaxPulseIntervalMs.
  Pulses(std::chrono::milliseconds interval, const DatagramSeal& seal, Host& host);

  // Replaces the set of cables. An unchanged cable keeps its judgement. So does a cable that was lost and comes back
  // with the same neighbour, incarnation and addresses within kRemembered; it stays distrusted until its pulses are
  // good. A distrusted cable that is forgotten gets a verdict of kAll, and a lossy one a loss of 0.
  void set_cables(std::vector<PulsedCable> cables, Instant now);
  static constexpr std::chrono::seconds kRemembered{60};

  // A datagram of `size` bytes has arrived over the cable of that name, in the kernel at `arrival`. `bytes`: its
  // first kPulseBytes bytes, or all if it is shorter. Datagrams other than the cable's pulses are ignored.
  void receive(const std::string& cable, std::span<const std::byte> bytes, std::size_t size, Instant arrival);
  // The neighbour's kernel has refused a pulse.
  void refused(const std::string& cable, Instant now);

  Instant next() const { return next_; }
  void tick(Instant now);

 private:
  struct Cable {
    PulsedCable cable;
    ReplayWindow window;
    CableJudge judge;
    std::uint64_t counter = 0;  // of the last pulse sent
    int until_large = 0;        // number of small pulses before the next large one
    LossMeter losses = {};
    Duration neighbour_interval{0};
    bool is_up = true;
    Instant down_since;
  };

  using Cables = std::map<std::string, Cable>;  // by name

  void add(PulsedCable cable, Instant now);
  Cables::iterator forget(Cables::iterator cable);
  void expire(Instant now);
  Cable* find(const std::string& name);
  void note_lateness(Instant now);
  void send(Cable& each, Instant now);
  bool send(const PulsedCable& cable, const Pulse& pulse);
  bool judge(Cable& each, Instant now);

  const std::chrono::milliseconds interval_;
  const DatagramSeal& seal_;
  Host& host_;
  RecentMaximum<Duration> lateness_;
  Cables cables_;                 // including remembered ones that are down
  std::uint64_t counter_ = 0;     // the greatest of all cables; a forgotten cable must not reuse counters
  std::vector<std::byte> bytes_;  // of the pulse that is being sent
  Instant next_;
  Instant next_send_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PULSE_PULSES_H_
