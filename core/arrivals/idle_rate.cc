#include "core/arrivals/idle_rate.h"

#include <algorithm>

namespace cableway {

void IdleRate::note(const From& from) {
  ++all_;
  if (of_.size() < kMostAddresses || of_.contains(from)) ++of_[from];
  if (second_ == nullptr) second_ = clock_.call_after(std::chrono::seconds(1), [this] { end_second(); });
}

void IdleRate::end_second() {
  second_.reset();
  const auto all = std::exchange(all_, 0);
  const std::map<From, std::size_t> of = std::exchange(of_, {});
  if (all < kMany) return;
  const auto most = std::max_element(of.begin(), of.end(),
                                     [](const auto& left, const auto& right) { return left.second < right.second; });
  report_(most->first, all);
}

}  // namespace cableway
