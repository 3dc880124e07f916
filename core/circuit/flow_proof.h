// What shows that whoever sets a flow up was given the listen handle, without showing the handle's cookie to the cables
// and relays on its way: keyed BLAKE2b with the cookie for a key.
#ifndef CABLEWAY_CORE_CIRCUIT_FLOW_PROOF_H_
#define CABLEWAY_CORE_CIRCUIT_FLOW_PROOF_H_

#include "core/circuit/circuit_setup.h"
#include "core/crypto/keyed_mac.h"

namespace cableway {

// What a set-up calls the listen comm; tells nothing of the cookie.
ListenerName listener_name(const Cookie& cookie);

// Over all of a set-up that no relay changes: not the hop, not what that hop offers, not the budget, not the proof
// itself.
Mac flow_proof(const Cookie& cookie, const CircuitSetup& setup);

// Fills in listener and proof: the last thing that a source does to its set-up.
void prove_flow(const Cookie& cookie, CircuitSetup& setup);

// In a time that does not depend on where the proof differs.
bool proves_flow(const Cookie& cookie, const CircuitSetup& setup);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_FLOW_PROOF_H_
