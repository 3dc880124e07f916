// The data of a cable test over RDMA (cable_probe.h): one end writes into the other end's mailbox as fast as the device
// can, through the same kind of queue pair that hops use. Nothing reads what arrives.
#ifndef CABLEWAY_CORE_LINUX_HOP_RDMA_PROBE_H_
#define CABLEWAY_CORE_LINUX_HOP_RDMA_PROBE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/circuit/transport.h"
#include "core/linux/rdma/rdma_transport.h"
#include "core/linux/rdma/verbs_ports.h"
#include "core/settings/settings.h"

namespace cableway::host {

// The number of transferred bytes, and the time that the transfer took.
struct ProbeData {
  std::uint64_t bytes = 0;
  std::chrono::steady_clock::duration took{};
};

// One end of a test. One thread, which blocks when the device or the kernel does.
class RdmaProbe {
 public:
  RdmaProbe(const Settings& settings, const VerbsHost& host) : transport_(settings, Idle::kPolls, host) {}

  // Opens an end on the port with that address, if hops over it use RDMA. nullopt: they use TCP. Errors are those for
  // which a hop is refused.
  absl::StatusOr<std::optional<TransportOffer>> open(const std::string& address);
  // Requires an open end. Joins it to the other end, which must be at that address.
  absl::Status join(const TransportOffer& other, const std::string& address);
  // The other end has no RDMA. An error if this end requires RDMA.
  absl::Status check_missing_there() const { return transport_.missing_there().status(); }
  // "rdma mlx5_0".
  std::string name() const;
  // The payload of a full packet, as both ends allow. Requires a joined end.
  std::uint32_t packet_bytes() const { return packet_bytes_; }
  // Requires a joined end. Writes for `duration` and then until the other device has acknowledged all data, or until
  // `ended`, called every 20 ms, returns true because the other end is gone.
  absl::StatusOr<ProbeData> send(std::chrono::milliseconds duration, const std::function<bool()>& ended);

 private:
  RdmaTransport transport_;
  std::optional<RdmaHalf> half_;
  std::uint32_t packet_bytes_ = 0;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HOP_RDMA_PROBE_H_
