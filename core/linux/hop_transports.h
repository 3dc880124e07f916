// Which transport a hop gets, and this end of it: RDMA where both ends' ports have it, else TCP. Each end looks at its
// own port. The end that dials offers a queue pair with the set-up; the one that accepts answers with its own, or does
// without. A device that should work and does not is an error, and never a reason to use TCP in silence.
#ifndef CABLEWAY_CORE_LINUX_HOP_TRANSPORTS_H_
#define CABLEWAY_CORE_LINUX_HOP_TRANSPORTS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "core/circuit_setup.h"
#include "core/linux/hop_connection.h"
#include "core/linux/verbs_ports.h"
#include "core/linux/verbs_queue_pair.h"
#include "core/settings.h"

namespace cableway::linux_ {

// How hops' queue pairs are to send.
VerbsOptions verbs_options(const Settings& settings);

// What one end of a hop has chosen.
struct HopChoice {
  std::unique_ptr<RdmaHalf> rdma;  // null: TCP
  std::string why;                 // HopTransport::reason
};

// Set-up only; one thread at a time.
class HopTransports {
 public:
  // `idle`: of who moves data over the queue pairs that are made here.
  HopTransports(const Settings& settings, VerbsQueuePair::Idle idle, VerbsHost host = {})
      : wanted_(settings.transport), options_(verbs_options(settings)), idle_(idle), host_(std::move(host)) {}

  // For the end that dials with `setup`: a queue pair on its port to be offered, where the hop may go over RDMA.
  absl::StatusOr<HopChoice> offer(const CircuitSetup& setup);
  // And what became of that, by the `answer` to the set-up. InvalidArgument: the answer cannot be, and why.
  absl::Status settle(const CircuitSetup& setup, const SetupAnswer& answer, HopChoice& offered) const;

  // For the end that accepts: its queue pair, on the port with its own address, joined to the one that the set-up
  // offers, if it offers one. InvalidArgument: what it offers cannot be, and why.
  absl::StatusOr<HopChoice> join(const CircuitSetup& setup, const std::string& own_address);

 private:
  // `port`: the interface with that address, for people; "" where that is not known.
  absl::StatusOr<HopChoice> open(const std::string& address, const std::string& port);
  absl::StatusOr<std::optional<VerbsPort>> find(const std::string& address);
  const Transport wanted_;
  const VerbsOptions options_;
  const VerbsQueuePair::Idle idle_;
  const VerbsHost host_;
  // What was found for an address: a device's table has hundreds of entries, each of them files. Good as long as the
  // device says that the address is still there.
  std::map<std::string, VerbsPort> found_;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_HOP_TRANSPORTS_H_
