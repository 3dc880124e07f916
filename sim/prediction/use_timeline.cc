#include "sim/prediction/use_timeline.h"

#include <algorithm>

namespace cableway::sim {
namespace {

std::size_t sample_limit(std::size_t wanted, std::size_t directions) {
  const std::size_t affordable = UseTimeline::kMaxValues / std::max<std::size_t>(directions, 1);
  return std::max(std::min(wanted, affordable), UseTimeline::kMinSamples) / 2 * 2;
}

}  // namespace

UseTimeline::UseTimeline(VirtualClock& clock, const CircuitWorld& world, Duration first_interval,
                         std::size_t max_samples)
    : clock_(clock),
      world_(world),
      directions_(2 * world.topology().cable_count()),
      max_samples_(sample_limit(max_samples, directions_)),
      interval_(std::max(first_interval, Duration(1))),
      before_(directions_) {}

void UseTimeline::start() {
  begin_ = clock_.now();
  clock_.schedule(begin_ + interval_, *this);
}

void UseTimeline::occur(std::uint64_t) {
  append(bytes_);
  for (std::size_t i = 0; i < directions_; ++i) before_[i] += bytes_[bytes_.size() - directions_ + i];
  if (bytes_.size() == max_samples_ * directions_) join_pairs();
  clock_.schedule(clock_.now() + interval_, *this);
}

void UseTimeline::append(std::vector<std::uint64_t>& bytes) const {
  for (std::uint32_t i = 0; i < directions_; ++i) {
    bytes.push_back(world_.use(routing::CableIndex{i / 2}, i % 2 == 0).bytes - before_[i]);
  }
}

void UseTimeline::join_pairs() {
  for (std::size_t sample = 0; sample < max_samples_ / 2; ++sample) {
    for (std::size_t i = 0; i < directions_; ++i) {
      const std::uint64_t both = bytes_[2 * sample * directions_ + i] + bytes_[(2 * sample + 1) * directions_ + i];
      bytes_[sample * directions_ + i] = both;
    }
  }
  bytes_.resize(max_samples_ / 2 * directions_);
  interval_ *= 2;
}

UseSamples UseTimeline::samples() const {
  UseSamples samples{interval_, clock_.now() - begin_, directions_, bytes_};
  if (samples.whole > interval_ * static_cast<Duration::rep>(samples.count())) append(samples.bytes);
  return samples;
}

}  // namespace cableway::sim
