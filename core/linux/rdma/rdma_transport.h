// Hops over RDMA, where both ends' ports have a device. Each end looks at its own port. The end that dials offers a
// queue pair with the set-up; the one that accepts answers with its own, or does without. A device that should work and
// does not is an error.
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

// This end of such a hop, whose queue pair is connected once it is settled, or joined.
std::unique_ptr<HostEnd> make_rdma_end(RdmaHalf half);

// Set-up only; one thread at a time.
class RdmaTransport final : public Transport {
 public:
  // `idle`: of who moves data over the queue pairs that are made here.
  RdmaTransport(const Settings& settings, VerbsQueuePair::Idle idle, VerbsHost host = {})
      : wanted_(settings.transport), options_(verbs_options(settings)), idle_(idle), host_(std::move(host)) {}

  TransportKind kind() const override { return TransportKind::kRdma; }
  absl::StatusOr<TransportChoice> offer(const CircuitSetup& setup) override;
  absl::Status settle(const CircuitSetup& setup, const SetupConnection& connection, TransportEnd& offered,
                      std::span<const std::byte> parameters) override;
  absl::StatusOr<TransportChoice> join(const CircuitSetup& setup, const SetupConnection& connection,
                                       std::span<const std::byte> parameters) override;
  absl::StatusOr<std::string> missing_there() const override;

 private:
  // `port`: the interface with that address, for people; "" where that is not known.
  absl::StatusOr<TransportChoice> open(const std::string& address, const std::string& port);
  absl::StatusOr<std::optional<VerbsPort>> find(const std::string& address);

  const TransportSetting wanted_;
  const VerbsOptions options_;
  const VerbsQueuePair::Idle idle_;
  const VerbsHost host_;
  // What was found for an address: a device's table has hundreds of entries, each of them files. Good as long as the
  // device says that the address is still there.
  std::map<std::string, VerbsPort> found_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_RDMA_TRANSPORT_H_
