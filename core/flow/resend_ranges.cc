#include "core/flow/resend_ranges.h"

#include <algorithm>
#include <tuple>

namespace cableway {
namespace {

bool adjacent(const MessageRange& before, const MessageRange& after) {
  return before.message == after.message && before.end == after.begin;
}

}  // namespace

bool ResendRanges::add(const MessageRange& range) {
  const auto begin = ranges_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(size_);
  const auto after = std::upper_bound(begin, end, range, [](const MessageRange& a, const MessageRange& b) {
    return std::tie(a.message, a.begin) < std::tie(b.message, b.begin);
  });
  const auto place = static_cast<std::size_t>(after - begin);
  const bool joins_after = after != end && adjacent(range, *after);
  if (after != begin && adjacent(*(after - 1), range)) {
    (after - 1)->end = joins_after ? after->end : range.end;
    if (joins_after) remove(place);
  } else if (joins_after) {
    after->begin = range.begin;
  } else {
    if (size_ == kMax) return false;
    std::move_backward(after, end, end + 1);
    ranges_[place] = range;
    ++size_;
  }
  return true;
}

void ResendRanges::take_from_first(std::uint64_t bytes) {
  ranges_[0].begin += bytes;
  if (ranges_[0].begin == ranges_[0].end) remove(0);
}

void ResendRanges::remove(std::size_t place) {
  std::move(ranges_.begin() + static_cast<std::ptrdiff_t>(place) + 1,
            ranges_.begin() + static_cast<std::ptrdiff_t>(size_), ranges_.begin() + static_cast<std::ptrdiff_t>(place));
  --size_;
}

}  // namespace cableway
