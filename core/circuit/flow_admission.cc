#include "core/circuit/flow_admission.h"

namespace cableway {

absl::Status FlowAdmission::admit(const CircuitSetup& setup) {
  if (!verify_flow_proof(cookie_, setup)) {
    return absl::PermissionDeniedError("the set-up's proof is wrong: its sender does not have the listen handle");
  }
  if (!seen_.first_use(setup.nonce)) return absl::PermissionDeniedError("the set-up is a copy of an earlier one");
  return absl::OkStatus();
}

}  // namespace cableway
