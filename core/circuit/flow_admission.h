// Whether a listener accepts a set-up that has arrived for it: its source has proved that it has the listen handle, and
// it is no copy of an earlier one.
#ifndef CABLEWAY_CORE_CIRCUIT_FLOW_ADMISSION_H_
#define CABLEWAY_CORE_CIRCUIT_FLOW_ADMISSION_H_

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/flow_proof.h"
#include "core/circuit/seen_flows.h"

namespace cableway {

// One per listener. admit() is for one thread; the rest never changes.
class FlowAdmission {
 public:
  explicit FlowAdmission(const Cookie& cookie) : cookie_(cookie), name_(listener_name(cookie)) {}

  // The secret in the listen handle, and the listener's name in set-ups.
  const Cookie& cookie() const { return cookie_; }
  const ListenerName& name() const { return name_; }

  // PermissionDenied: refuse it. Records the set-up, so that it cannot be replayed, even if it is then refused for
  // another reason.
  absl::Status admit(const CircuitSetup& setup);

 private:
  const Cookie cookie_;
  const ListenerName name_;
  SeenFlows seen_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_FLOW_ADMISSION_H_
