#include "core/discovery/hello_round_trip.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace cableway {
namespace {

// How often A is replaced: long compared with the time for which a hello is held, short enough for constant clock
// rates.
constexpr std::chrono::seconds kFirstAge{2};
// Longer intervals are invalid: a neighbour is lost sooner.
constexpr std::uint64_t kLongestNs = std::uint64_t{600} * 1'000'000'000;

// Negative differences wrap to values above kLongestNs.
std::uint64_t nanoseconds(Duration time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace

HelloEcho HelloRoundTrip::echo(Instant now) {
  sent_[next_] = now;
  next_ = (next_ + 1) % sent_.size();
  if (last_.sent_ns == 0) return {};
  return {last_.sent_ns, nanoseconds(std::max(now - last_.arrival, Duration(0)))};
}

std::optional<Duration> HelloRoundTrip::hear(std::uint64_t sent_ns, const HelloEcho& echo, Instant arrival) {
  last_ = Heard{sent_ns, arrival};
  if (sent_ns == 0) return std::nullopt;
  std::optional<Duration> measured;
  const auto sent = std::find_if(sent_.begin(), sent_.end(), [&](const std::optional<Instant>& each) {
    return each.has_value() && nanoseconds(each->since_start) == echo.sent_ns;
  });
  if (sent != sent_.end() && first_.sent_ns != 0) measured = latency(last_, **sent, echo.held_ns);
  if (next_first_.sent_ns == 0 || arrival - next_first_.arrival >= kFirstAge) {
    first_ = first_.sent_ns == 0 ? last_ : next_first_;
    next_first_ = last_;
  }
  return measured;
}

std::optional<Duration> HelloRoundTrip::latency(const Heard& last, Instant sent, std::uint64_t held_ns) const {
  const std::uint64_t round_here_ns = nanoseconds(last.arrival - sent);
  const std::uint64_t round_there_ns = last.sent_ns - held_ns - first_.sent_ns;
  const std::uint64_t reply_here_ns = nanoseconds(sent - first_.arrival);
  if (std::max({round_here_ns, round_there_ns, reply_here_ns, held_ns}) > kLongestNs) return std::nullopt;
  const auto round_here = static_cast<double>(round_here_ns);
  const auto round_there = static_cast<double>(round_there_ns);
  const auto reply_here = static_cast<double>(reply_here_ns);
  const auto reply_there = static_cast<double>(held_ns);
  const double sum = round_here + round_there + reply_here + reply_there;
  const double difference = round_here * round_there - reply_here * reply_there;
  if (sum <= 0 || difference < sum / 2) return std::nullopt;  // less than half a nanosecond
  return Duration(std::llround(difference / sum));
}

}  // namespace cableway
