// How many connections a second are closed because they bring no set-up, or refused because it is invalid, and whose
// they are. Reports each second in which they are many.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_ARRIVALS_IDLE_RATE_H_
#define CABLEWAY_CORE_ARRIVALS_IDLE_RATE_H_

#include <chrono>
#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/clock.h"
#include "core/neighbour_shares.h"

namespace cableway {

class IdleRate {
 public:
  struct From {
    std::string listener;  // the address that they arrive at
    std::string address;   // theirs
    ShareHolder party;     // as in Arrivals

    friend auto operator<=>(const From&, const From&) = default;
  };
  // `from`: the source of most of these connections within the last second; `per_second`: their total.
  using Report = std::function<void(const From& from, std::size_t per_second)>;

  static constexpr std::size_t kMany = 16;           // a second
  static constexpr std::size_t kMostAddresses = 64;  // counted separately; further addresses count only in the total

  // The clock outlives it.
  IdleRate(Clock& clock, Report report) : clock_(clock), report_(std::move(report)) {}

  void note(const From& from);

 private:
  void end_second();

  Clock& clock_;
  const Report report_;
  std::map<From, std::size_t> of_;
  std::size_t all_ = 0;
  std::unique_ptr<Timer> second_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_ARRIVALS_IDLE_RATE_H_
