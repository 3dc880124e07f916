// The connection of a hop while it is set up, as bytes in virtual time: what one end sends arrives at the other after
// the cable's latency and the time that a process takes to look, in order; while the cable does not carry it waits, as
// TCP would send it again. An end that is dropped is found closed by the other one.
//
// Once the set-up is done the hop's links take over (cable_plant.h): take_hop() gives its end away for that.
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

  // Clock and hop outlive this. `takes`: from one process to the other.
  SetupWire(VirtualClock& clock, PlantHop& hop, Duration takes) : clock_(clock), hop_(hop), takes_(takes) {}

  // Its two ends; `from` and `to` are their addresses. Once.
  std::pair<std::unique_ptr<SetupConnection>, std::unique_ptr<SetupConnection>> make_ends(const std::string& from,
                                                                                          const std::string& to);
  PlantHop& hop() { return hop_; }

  // The connection has broken at this end, and why.
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
    absl::Status ended;   // once it has: what is left to be read comes first
    bool present = true;  // its object is there
  };
  // What is on its way to a side: bytes, or (none) the other end's close.
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
  std::array<std::deque<Parcel>, 2> on_the_way_;  // by the side that they go to
};

// The hop that was set up on this connection, whose end becomes that hop's link: closing it is the link's affair then.
PlantHop& take_hop(std::unique_ptr<SetupConnection> connection);
// The same while it is set up.
PlantHop& hop_of(const SetupConnection& connection);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_SETUP_WIRE_H_
