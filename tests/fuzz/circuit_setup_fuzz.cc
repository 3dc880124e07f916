// Feeds bytes to the decoder of set-ups. What it accepts must survive a round trip and be safe to act on and to show.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/circuit/circuit_setup.h"
#include "core/flow/frame.h"
#include "core/rdma/rdma_endpoint.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

namespace {

bool printable(const std::string& text) {
  for (const char c : text) {
    if (c <= ' ' || c > '~') return false;
  }
  return true;
}

void check_accepted(const cableway::CircuitSetup& setup) {
  using namespace cableway;
  require(!setup.hops.empty() && setup.hops.size() <= kMaxHops && setup.hop < setup.hops.size(), "no hop to be on");
  require(setup.chunk_bytes > 0 && setup.chunk_bytes <= kMaxChunkBytes && setup.chunk_bytes % kLineBytes == 0,
          "a chunk size that splits lines");
  require(setup.budget_ms > 0 && setup.budget_ms <= kMaxBudgetMs, "a budget without a bound");
  require(!setup.this_hop_from().empty(), "a hop from nowhere");
  std::set<std::string> nodes{setup.from_node};
  for (const Hop& hop : setup.hops) {
    require(printable(hop.cable) && printable(hop.to_node), "a name that cannot be shown");
    require(nodes.insert(hop.to_node).second || setup.hops.size() == 1, "a node twice");
  }
  require(printable(setup.from_node), "a name that cannot be shown");
  require(describe_path(setup).size() < 65536, "a path too long to show");
  require(setup.view.empty() == (setup.purpose != SetupPurpose::kView), "a view of nothing");
  require(setup.view.size() <= kMaxViewName && printable(setup.view), "a view that cannot be shown");
  require(setup.offers.size() <= kMaxOffers, "offers without a bound");
  for (const TransportOffer& offer : setup.offers) {
    require(offer.parameters.size() <= kMaxOfferBytes, "an offer without a bound");
    const absl::StatusOr<RdmaEndpoint> endpoint = decode_rdma_endpoint(offer.parameters);
    require(!endpoint.ok() || encode_rdma_endpoint(*endpoint) == offer.parameters, "an endpoint does not survive");
  }
}

// The same bytes as the body of a probe.
void check_probe(std::span<const std::byte> body) {
  using namespace cableway;
  if (body.size() > kMaxProbeBytes) return;
  const Frame header{FrameKind::kProbe, static_cast<std::uint32_t>(body.size()), 0, 1, 1};
  const absl::StatusOr<ProbeOpening> opening = decode_probe(header, body);
  if (!opening.ok()) return require(!opening.status().message().empty(), "an error without a reason");
  const std::vector<std::byte> again = encode_probe(*opening);
  require(std::equal(body.begin(), body.end(), again.begin() + kFrameHeaderBytes, again.end()),
          "a probe does not survive a round trip");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  check_probe(std::span(reinterpret_cast<const std::byte*>(data), size));
  const absl::StatusOr<CircuitSetup> setup =
      decode_circuit_setup(std::span(reinterpret_cast<const std::byte*>(data), size));
  if (!setup.ok()) {
    require(!setup.status().message().empty(), "an error without a reason");
    return 0;
  }
  check_accepted(*setup);
  const absl::StatusOr<CircuitSetup> again = decode_circuit_setup(encode_circuit_setup(*setup));
  require(again.ok() && *again == *setup, "a set-up does not survive a round trip");
  return 0;
}
