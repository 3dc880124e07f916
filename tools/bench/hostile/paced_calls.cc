#include "tools/bench/hostile/paced_calls.h"

#include <chrono>
#include <utility>

namespace cableway::bench {

PacedCalls::PacedCalls(Clock& clock, std::uint64_t per_second, std::function<void(std::uint64_t)> work)
    : clock_(clock), per_second_(per_second), work_(std::move(work)), began_(clock.now()) {
  catch_up();
}

void PacedCalls::catch_up() {
  constexpr std::chrono::milliseconds kBatch{5};
  const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(clock_.now() - began_).count();
  const std::uint64_t due = static_cast<std::uint64_t>(passed) * per_second_ / 1'000'000;
  while (calls_ < due) work_(calls_++);
  timer_ = clock_.call_after(kBatch, [this] { catch_up(); });
}

}  // namespace cableway::bench
