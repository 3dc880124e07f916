// Decides whether a set-up that has arrived for a listener may begin a flow: its source has proved that it has the
// listen handle, the set-up is not a copy of an earlier one, and its flow has not begun before.
#ifndef CABLEWAY_CORE_CIRCUIT_FLOW_ADMISSION_H_
#define CABLEWAY_CORE_CIRCUIT_FLOW_ADMISSION_H_

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/flow_proof.h"
#include "core/circuit/seen_flows.h"

namespace cableway {

// One for each listener. admit() is for one thread; all else never changes.
class FlowAdmission {
 public:
  explicit FlowAdmission(const Cookie& cookie) : cookie_(cookie), name_(listener_name(cookie)) {}

  // The secret in the listen handle, and the listener's name in set-ups.
  const Cookie& cookie() const { return cookie_; }
  const ListenerName& name() const { return name_; }

  // PermissionDenied: the set-up must be refused. Records the set-up so that it cannot be replayed, even if it is
  // then refused for another reason; in that case its source may still try another circuit for the flow.
  absl::Status admit(const CircuitSetup& setup);
  // The flow of an admitted set-up has begun. No other set-up may begin it again, even after it has ended.
  void begun(const CircuitSetup& setup) { begun_.first_use(setup.nonce, kFlow); }

 private:
  static constexpr CircuitName kFlow{0, 0};  // no circuit has this name

  const Cookie cookie_;
  const ListenerName name_;
  SeenFlows seen_;   // set-ups
  SeenFlows begun_;  // flows
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_FLOW_ADMISSION_H_
