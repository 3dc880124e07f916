#include "core/circuit/flow_proof.h"

#include <vector>

namespace cableway {
namespace {

// The first byte of the MAC's input, so that a listener name is never a valid proof.
constexpr std::byte kName{1};
constexpr std::byte kProof{2};

}  // namespace

ListenerName listener_name(const Cookie& cookie) {
  return keyed_mac(cookie, std::span(&kName, 1));
}

Mac flow_proof(const Cookie& cookie, const CircuitSetup& setup) {
  CircuitSetup lasting = setup;
  lasting.hop = 0;
  lasting.budget_ms = 0;
  lasting.offers.clear();
  lasting.proof = {};
  const std::vector<std::byte> encoded = encode_circuit_setup(lasting);
  std::vector<std::byte> proven;
  proven.reserve(1 + encoded.size());
  proven.push_back(kProof);
  proven.insert(proven.end(), encoded.begin(), encoded.end());
  return keyed_mac(cookie, proven);
}

void add_flow_proof(const Cookie& cookie, CircuitSetup& setup) {
  setup.listener = listener_name(cookie);
  setup.proof = flow_proof(cookie, setup);
}

bool verify_flow_proof(const Cookie& cookie, const CircuitSetup& setup) {
  return same_mac(setup.proof, flow_proof(cookie, setup));
}

}  // namespace cableway
