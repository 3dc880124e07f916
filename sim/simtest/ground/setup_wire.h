// A hop's connection during set-up, as a byte stream in virtual time: sent bytes arrive in order after the cable's
// latency and the process's polling delay; while the cable does not carry they wait, as if TCP retransmitted them.
// Destroying one end closes it for the other.
//
// After the set-up the hop's links take over (cable_plant.h): take_hop() releases the end for that.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_SETUP_WIRE_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_SETUP_WIRE_H_

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/circuit/setup_connection.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

struct PlantHop;

class SetupWire : public std::enable_shared_from_this<SetupWire> {
 public:
  enum Side : std::size_t { kDialer = 0, kAcceptor = 1 };

  // Clock and hop outlive this. `takes`: the delay from one process to the other.
  SetupWire(VirtualClock& clock, PlantHop& hop, Duration takes) : clock_(clock), hop_(hop), takes_(takes) {}

  // Creates the two ends, once; `from` and `to` are their addresses.
  std::pair<std::unique_ptr<SetupConnection>, std::unique_ptr<SetupConnection>> make_ends(const std::string& from,
                                                                                          const std::string& to);
  PlantHop& hop() { return hop_; }

  // Breaks the connection at this end with a reason.
  void cut(Side side, const absl::Status& reason);

 private:
  friend class SimConnection;

  struct Reading {
    std::size_t bytes = 0;
    SetupConnection::HaveBytes have;
  };
  struct End {
    std::deque<std::byte> arrived;
    std::optional<Reading> reading;
    absl::Status ended;   // set when it has ended; unread bytes are delivered first
    bool present = true;  // its object exists
  };
  // An item in flight to one side: bytes, or (none) the other end's close.
  struct Parcel {
    std::vector<std::byte> bytes;
    Instant due;
  };

  void send(Side from, std::vector<std::byte> bytes);
  void read(Side side, Reading reading);
  void close(Side side);
  void deliver(Side to);
  void deliver_at(Side to, Instant when);
  void serve(Side side);

  VirtualClock& clock_;
  PlantHop& hop_;
  const Duration takes_;
  std::array<End, 2> ends_;
  std::array<std::deque<Parcel>, 2> in_flight_;  // by the side that they go to
};

// Releases the hop that was set up on this connection; from then on closing it is up to the hop's link.
PlantHop& take_hop(std::unique_ptr<SetupConnection> connection);
// The hop during set-up.
PlantHop& hop_of(const SetupConnection& connection);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_SETUP_WIRE_H_
