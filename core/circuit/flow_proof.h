// Proves that the source of a flow has the listen handle, without revealing the handle's cookie to the cables and
// relays of the path: keyed BLAKE2b with the cookie as the key.
#ifndef CABLEWAY_CORE_CIRCUIT_FLOW_PROOF_H_
#define CABLEWAY_CORE_CIRCUIT_FLOW_PROOF_H_

#include "core/circuit/circuit_setup.h"
#include "core/crypto/keyed_mac.h"

namespace cableway {

// Identifies the listen comm in a set-up; reveals nothing about the cookie.
ListenerName listener_name(const Cookie& cookie);

// Covers every field of a set-up that no relay changes: all but the hop, its offers, the budget and the proof itself.
Mac flow_proof(const Cookie& cookie, const CircuitSetup& setup);

// Fills in listener and proof. The source changes no other field of its set-up afterwards.
void add_flow_proof(const Cookie& cookie, CircuitSetup& setup);

// Constant time.
bool verify_flow_proof(const Cookie& cookie, const CircuitSetup& setup);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_FLOW_PROOF_H_
