#include "sim/simtest/hostile/datagram_holder.h"

namespace cableway::sim {
namespace {

constexpr std::uint64_t kHolderNumbers = 0x686f;  // of its own, so that nothing else in the world depends on it
constexpr std::uint32_t kOvertakenPerMille = 500;

}  // namespace

DatagramHolder::DatagramHolder(VirtualClock& clock, CableFabric& fabric, CableFabric::SegmentNumber segment,
                               const Holding& holding, std::uint64_t seed)
    : clock_(clock),
      fabric_(fabric),
      segment_(segment),
      holding_(holding),
      random_(SimtestRandom::mix(seed ^ segment) ^ kHolderNumbers) {}

void DatagramHolder::begin() {
  fabric_.intercept(segment_, [this](const Way& way, std::span<const std::byte> bytes) { return take(way, bytes); });
}

void DatagramHolder::end() {
  fabric_.intercept(segment_, nullptr);
  let_pass();
}

bool DatagramHolder::take(const Way& way, std::span<const std::byte> bytes) {
  const auto& ends = fabric_.ends_of(segment_);
  if (ends[holding_.end % ends.size()] != std::pair(way.from, way.from_port)) return false;
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  if (holding_.in_order) {
    if (held_.empty()) clock_.post_at(clock_.now() + holding_.longest(), [this] { let_pass(); });
    held_.emplace_back(way, std::move(copy));
    return true;
  }
  if (!random_.happens(kOvertakenPerMille)) return false;
  clock_.post_at(clock_.now() + random_.between(Duration{0}, holding_.longest()),
                 [this, way, late = std::move(copy)] { fabric_.pass_on(way, late); });
  return true;
}

void DatagramHolder::let_pass() {
  for (const auto& [way, bytes] : std::exchange(held_, {})) fabric_.pass_on(way, bytes);
}

}  // namespace cableway::sim
