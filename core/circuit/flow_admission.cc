#include "core/circuit/flow_admission.h"

namespace cableway {

absl::Status FlowAdmission::admit(const CircuitSetup& setup) {
  if (!verify_flow_proof(cookie_, setup)) {
    return absl::PermissionDeniedError("the set-up's proof is wrong: its sender does not have the listen handle");
  }
  if (begun_.contains(setup.nonce, kFlow)) {
    return absl::PermissionDeniedError("the flow of this set-up has begun here before");
  }
  if (!seen_.first_use(setup.nonce, setup.circuit)) {
    return absl::PermissionDeniedError("the set-up is a copy of an earlier one");
  }
  return absl::OkStatus();
}

}  // namespace cableway
