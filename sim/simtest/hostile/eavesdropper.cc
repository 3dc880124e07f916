#include "sim/simtest/hostile/eavesdropper.h"

#include <algorithm>
#include <utility>

#include "core/crypto/datagram_seal.h"

namespace cableway::sim {
namespace {

constexpr std::uint64_t kNumbers = 0x6576;  // of its own, so that nothing else in the world depends on it
constexpr std::uint32_t kChangedPerMille = 250;

}  // namespace

Eavesdropper::Eavesdropper(SimtestGround& ground)
    : ground_(ground), random_(SimtestRandom::mix(ground.plan.seed) ^ kNumbers) {
  ground.nodes.fabric().tap_arrivals(
      [this](const CableFabric::Way& /*way*/, std::span<const std::byte> bytes) { hear(bytes); });
}

// Reservoir sampling (J. S. Vitter, "Random Sampling with a Reservoir", 1985, algorithm R).
void Eavesdropper::hear(std::span<const std::byte> bytes) {
  ++heard_;
  if (kept_.size() < kKept) {
    kept_.emplace_back(bytes.begin(), bytes.end());
    return;
  }
  const std::uint64_t place = random_.below(heard_);
  if (place < kKept) kept_[place].assign(bytes.begin(), bytes.end());
}

void Eavesdropper::play(std::size_t cable) {
  CableFabric& fabric = ground_.nodes.fabric();
  const auto& ends = fabric.ends_of(cable);
  if (kept_.empty() || !fabric.has_carrier(cable)) return;
  std::vector<std::byte> bytes = kept_[random_.below(kept_.size())];
  if (random_.happens(kChangedPerMille)) {
    // One byte, or the seal of a cluster without a key.
    if (random_.happens(500)) {
      bytes[random_.below(bytes.size())] ^= static_cast<std::byte>(random_.between(std::uint64_t{1}, 255));
    } else {
      std::fill(bytes.end() - kSealBytes, bytes.end(), std::byte{0});
    }
  }
  const std::size_t to = random_.below(ends.size());
  const auto& [from_node, from_port] = ends[(to + 1) % ends.size()];
  const auto& [node, port] = ends[to];
  if (fabric.is_off(node)) return;
  for (const PortFacts& facts : fabric.ports_of(from_node).ports()) {
    if (facts.id != from_port || facts.addresses.empty()) continue;
    fabric.inject(node, port, facts.addresses.front().address, std::move(bytes));
    return;
  }
}

}  // namespace cableway::sim
