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
#include "core/settings.h"

namespace cableway::linux_ {

// How hops' queue pairs are to send.
VerbsOptions verbs_options(const Settings& settings);

// Set-up only; one thread at a time.
class HopTransports {
 public:
  explicit HopTransports(const Settings& settings, VerbsHost host = {})
      : wanted_(settings.transport), options_(verbs_options(settings)), host_(std::move(host)) {}

  // A queue pair on the port with this address; null where hops go over TCP there.
  absl::StatusOr<std::unique_ptr<RdmaHalf>> open(const std::string& address);

  // For the end that dials: `answer` to a set-up that offered `offered`, null if it offered none.
  absl::Status settle(const SetupAnswer& answer, std::unique_ptr<RdmaHalf>& offered) const;

  // For the end that accepts: its queue pair, on the port with its own address, joined to the one that the set-up
  // offers; null: the hop goes over TCP.
  absl::StatusOr<std::unique_ptr<RdmaHalf>> join(const CircuitSetup& setup, const std::string& own_address);

 private:
  absl::StatusOr<std::optional<VerbsPort>> find(const std::string& address);
  const Transport wanted_;
  const VerbsOptions options_;
  const VerbsHost host_;
  // What was found for an address: a device's table has hundreds of entries, each of them files. Good as long as the
  // device says that the address is still there.
  std::map<std::string, VerbsPort> found_;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_HOP_TRANSPORTS_H_
