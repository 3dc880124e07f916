// Measures the latency between two ports from their hellos. Every hello carries the time at which it was sent and, for
// each port that its sender hears, the time in the last hello from there and for how long it has been held since (the
// timestamps of RFC 5905, section 8). Three hellos make one measurement:
//
//   neighbour   A ------.                .---- B . . . . C ------.
//                        \              /                         \          time ->
//   this node             ---- A . . . B                           ---- C
//
//   rounds: A to B at the neighbour, B to C here. replies: A to B here, B to C at the neighbour.
//   latency = (round * round - reply * reply) / (round + round + reply + reply)
//
// Each round and each reply is of one clock, and in a product of two clocks their rates cancel (D. Neirynck, E. Luk, M.
// McLaughlin, "An alternative double-sided two-way ranging method", 2016). From B and C alone, clocks that differ by 50
// ppm would cause an error of 2.5 us for a hello that was held for 100 ms: as much as the latency of many cables. A is
// some seconds old, so that its own delay hardly counts: the result is the mean of the delays of B and C.
#ifndef CABLEWAY_CORE_DISCOVERY_HELLO_ROUND_TRIP_H_
#define CABLEWAY_CORE_DISCOVERY_HELLO_ROUND_TRIP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/clock.h"
#include "core/discovery/port_hello.h"

namespace cableway {

// The hellos between one port of this node and one of a neighbour.
class HelloRoundTrip {
 public:
  // Records that a hello is sent now, and returns the echo for the neighbour in it.
  HelloEcho echo(Instant now);
  // A hello of the neighbour arrived, with its time and its echo of this node's. Returns the one-way latency, above 0;
  // nullopt if it completes no measurement, or if its times are impossible. The neighbour is not trusted, but can only
  // falsify the latency of this one cable.
  std::optional<Duration> hear(std::uint64_t sent_ns, const HelloEcho& echo, Instant arrival);

 private:
  struct Heard {
    std::uint64_t sent_ns = 0;  // by the neighbour's clock; 0: there is none
    Instant arrival;
  };

  std::optional<Duration> latency(const Heard& last, Instant sent, std::uint64_t held_ns) const;

  std::array<std::optional<Instant>, 16> sent_;  // as many hellos as may be in flight at once
  std::size_t next_ = 0;
  Heard last_;
  Heard first_;  // A
  Heard next_first_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_HELLO_ROUND_TRIP_H_
