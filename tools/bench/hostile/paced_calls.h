// Calls work so many times a second, in small batches.
#ifndef CABLEWAY_TOOLS_BENCH_HOSTILE_PACED_CALLS_H_
#define CABLEWAY_TOOLS_BENCH_HOSTILE_PACED_CALLS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "core/clock.h"

namespace cableway::bench {

// Begins at once; `clock` must outlive it.
class PacedCalls {
 public:
  // `work` gets the number of the call, from 0.
  PacedCalls(Clock& clock, std::uint64_t per_second, std::function<void(std::uint64_t)> work);

 private:
  void catch_up();

  Clock& clock_;
  const std::uint64_t per_second_;
  const std::function<void(std::uint64_t)> work_;
  const Instant began_;
  std::uint64_t calls_ = 0;
  std::unique_ptr<Timer> timer_;
};

}  // namespace cableway::bench

#endif  // CABLEWAY_TOOLS_BENCH_HOSTILE_PACED_CALLS_H_
