// A transport of a simulation test's hops beside the connection: its devices at the ports, the memory of relays for it,
// and what set-ups negotiate. One object for the whole world; stub_transport.h lists them.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_SIM_TRANSPORT_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_SIM_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "core/circuit/transport.h"
#include "sim/simtest/ground/cable_plant.h"
#include "sim/simtest/ground/slot_store.h"
#include "sim/simtest/rules/trace_hash.h"

namespace cableway::sim {

class SimTransport {
 public:
  SimTransport() = default;
  virtual ~SimTransport() = default;
  SimTransport(const SimTransport&) = delete;
  SimTransport& operator=(const SimTransport&) = delete;

  virtual TransportKind kind() const = 0;
  // Its ends are SimEnds; it sets the hop's mover (CablePlant::set_mover). This, plant and trace outlive it.
  virtual std::unique_ptr<Transport> make_negotiated(CablePlant& plant, TraceHash& trace) = 0;
  // Where the node's relay stores chunks that cross it. Null: the node has no device, or the transport needs no slots
  // of its own. This outlives it.
  virtual std::unique_ptr<SlotStore> make_store(std::size_t node) = 0;

  // Hops completely set up over it.
  virtual std::uint64_t hops() const = 0;
  // Writes whose memory was changed by its owner before they had completed.
  virtual std::uint64_t changed_too_early() const = 0;
  // The first violation of its devices' contract by their users; OK if there was none.
  virtual const absl::Status& misuse() const = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_SIM_TRANSPORT_H_
