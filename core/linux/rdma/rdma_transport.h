// Hops over RDMA, if both ends' ports have a device. Each end checks its own port. The dialing end offers a queue pair
// with the set-up; the accepting end answers with its own, or without one. A device that should work and does not is an
// error.
#ifndef CABLEWAY_CORE_LINUX_RDMA_RDMA_TRANSPORT_H_
#define CABLEWAY_CORE_LINUX_RDMA_RDMA_TRANSPORT_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/setup_connection.h"
#include "core/circuit/transport.h"
#include "core/linux/link/host_end.h"
#include "core/linux/rdma/rdma_hop.h"
#include "core/linux/rdma/verbs_ports.h"
#include "core/linux/rdma/verbs_queue_pair.h"
#include "core/settings/settings.h"

namespace cableway::host {

// This end of such a hop. Its queue pair is connected after settle() or join().
std::unique_ptr<HostEnd> make_rdma_end(RdmaHalf half);

// For set-up only; used by one thread at a time.
class RdmaTransport final : public Transport {
 public:
  struct Opened {
    std::optional<RdmaHalf> half;  // nullopt: hops over that port do not use RDMA
    std::string why;               // then the reason, as in HopTransport
  };

  // `idle` is how the thread that moves data over these queue pairs behaves when idle.
  RdmaTransport(const Settings& settings, Idle idle, VerbsHost host = {})
      : wanted_(settings.transport), options_(verbs_options(settings)), idle_(idle), host_(std::move(host)) {}

  TransportKind kind() const override { return TransportKind::kRdma; }
  absl::StatusOr<TransportChoice> offer(const CircuitSetup& setup) override;
  absl::Status settle(const CircuitSetup& setup, const SetupConnection& connection, TransportEnd& offered,
                      std::span<const std::byte> parameters) override;
  absl::StatusOr<TransportChoice> join(const CircuitSetup& setup, const SetupConnection& connection,
                                       std::span<const std::byte> parameters) override;
  absl::StatusOr<std::string> missing_there() const override;

  // An end on the port with that address. `port`: the name of its interface, for messages; "" if unknown.
  absl::StatusOr<Opened> open(const std::string& address, const std::string& port);
  // Joins it to the other end, which must be at that address.
  absl::Status join(RdmaHalf& half, const RdmaEndpoint& other, const std::string& address);

 private:
  absl::StatusOr<std::optional<VerbsPort>> find(const std::string& address);

  const TransportSetting wanted_;
  const VerbsOptions options_;
  const Idle idle_;
  const VerbsHost host_;
  // Cached results by address: a device's table has hundreds of entries, each of several files. Valid while the device
  // reports that the address still exists, at any index.
  std::map<std::string, VerbsPort> found_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_RDMA_TRANSPORT_H_
