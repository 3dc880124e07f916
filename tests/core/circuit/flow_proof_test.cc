#include "core/circuit/flow_proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"

namespace cableway {
namespace {

Cookie counting_cookie() {
  Cookie cookie;
  for (std::size_t i = 0; i < cookie.size(); ++i) cookie[i] = static_cast<std::byte>(i);
  return cookie;
}

CircuitSetup proven_setup() {
  CircuitSetup setup;
  setup.nonce.fill(std::byte{9});
  setup.flow = 1;
  setup.chunk_bytes = 1U << 20;
  setup.budget_ms = 9000;
  setup.from_node = "n0";
  setup.hops = {Hop{"c0", "10.0.0.1", "n1", "10.0.0.2", 7470, false},
                Hop{"c1", "10.0.1.1", "n2", "10.0.1.2", 4000, false}};
  add_flow_proof(counting_cookie(), setup);
  return setup;
}

// From an independent BLAKE2b: of the byte 1, with the cookie for a key.
TEST(FlowProof, ListenerNameMatchesKnownValue) {
  const ListenerName name = listener_name(counting_cookie());
  EXPECT_EQ(absl::BytesToHexString({reinterpret_cast<const char*>(name.data()), name.size()}),
            "a2906dbb25ead054d2d3f6f7737d9330");
}

TEST(FlowProof, IsValidAtEveryHop) {
  CircuitSetup setup = proven_setup();
  EXPECT_EQ(setup.listener, listener_name(counting_cookie()));
  EXPECT_TRUE(verify_flow_proof(counting_cookie(), setup));
  setup.hop = 1;
  setup.budget_ms = 100;
  EXPECT_TRUE(verify_flow_proof(counting_cookie(), setup));
}

TEST(FlowProof, DoesNotRevealTheCookie) {
  const std::vector<std::byte> sent = encode_circuit_setup(proven_setup());
  const Cookie cookie = counting_cookie();
  EXPECT_EQ(std::search(sent.begin(), sent.end(), cookie.begin(), cookie.begin() + 4), sent.end());
}

TEST(FlowProof, FailsIfAnyCoveredFieldChanges) {
  using Change = std::function<void(CircuitSetup&)>;
  const Change changes[] = {
      [](CircuitSetup& s) { s.listener[0] ^= std::byte{1}; },
      [](CircuitSetup& s) { s.nonce[15] ^= std::byte{1}; },
      [](CircuitSetup& s) { s.proof[3] ^= std::byte{0x80}; },
      [](CircuitSetup& s) { ++s.flow; },
      [](CircuitSetup& s) { s.chunk_bytes = 128; },
      [](CircuitSetup& s) { s.from_node = "n9"; },
      [](CircuitSetup& s) { s.hops[0].from_address = "10.0.0.9"; },
      [](CircuitSetup& s) { s.hops[1].to_port = 4001; },
      [](CircuitSetup& s) { s.hops[1].routed = true; },
      [](CircuitSetup& s) { s.hops.pop_back(); },
  };
  for (const Change& change : changes) {
    CircuitSetup setup = proven_setup();
    change(setup);
    EXPECT_FALSE(verify_flow_proof(counting_cookie(), setup)) << &change - changes;
  }
  Cookie other = counting_cookie();
  other[7] ^= std::byte{1};
  EXPECT_FALSE(verify_flow_proof(other, proven_setup()));
}

}  // namespace
}  // namespace cableway
