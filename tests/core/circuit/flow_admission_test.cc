#include "core/circuit/flow_admission.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"

namespace cableway {
namespace {

Cookie cookie(int value) {
  Cookie cookie{};
  cookie.fill(static_cast<std::byte>(value));
  return cookie;
}

CircuitSetup proven_setup(int nonce, std::uint32_t generation = 1) {
  CircuitSetup setup;
  setup.from_node = "n0";
  setup.hops = {{"c0", "10.0.0.1", "n1", "10.0.0.2", 7000, false}};
  setup.nonce.fill(static_cast<std::byte>(nonce));
  setup.circuit.generation = generation;
  add_flow_proof(cookie(1), setup);
  return setup;
}

TEST(FlowAdmission, AdmitsEachProvenSetupOnce) {
  FlowAdmission admission(cookie(1));
  const CircuitSetup first = proven_setup(1);
  EXPECT_EQ(first.listener, admission.name());
  EXPECT_TRUE(admission.admit(first).ok());
  EXPECT_TRUE(admission.admit(proven_setup(2)).ok());
  EXPECT_EQ(admission.admit(first), absl::PermissionDeniedError("the set-up is a copy of an earlier one"));
}

TEST(FlowAdmission, AFlowWhoseFirstCircuitFailedMayBeginWithAnother) {
  FlowAdmission admission(cookie(1));
  EXPECT_TRUE(admission.admit(proven_setup(1, 1)).ok());
  EXPECT_TRUE(admission.admit(proven_setup(1, 2)).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(admission.admit(proven_setup(1, 1)))) << "a copy";
}

TEST(FlowAdmission, NoSetupBeginsAFlowAgain) {
  FlowAdmission admission(cookie(1));
  EXPECT_TRUE(admission.admit(proven_setup(1, 1)).ok());
  admission.begun(proven_setup(1, 1));
  EXPECT_TRUE(absl::IsPermissionDenied(admission.admit(proven_setup(1, 2))));
  EXPECT_TRUE(admission.admit(proven_setup(2, 1)).ok());
}

TEST(FlowAdmission, RefusesAWrongProofAndDoesNotRecordIt) {
  FlowAdmission admission(cookie(1));
  CircuitSetup forged = proven_setup(1);
  forged.proof[0] ^= std::byte{1};
  EXPECT_TRUE(absl::IsPermissionDenied(admission.admit(forged)));
  EXPECT_TRUE(admission.admit(proven_setup(1)).ok()) << "a forger must not keep the real one out";
  EXPECT_TRUE(absl::IsPermissionDenied(FlowAdmission(cookie(2)).admit(proven_setup(3))));
}

}  // namespace
}  // namespace cableway
