// Parses the rates and latencies of cables.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_CABLE_QUANTITY_H_
#define CABLEWAY_ROUTING_TOPOLOGY_CABLE_QUANTITY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace cableway::routing {

// "100Gbit/s", "2.5Gbit/s", "40Mbit/s", "1Tbit/s", or short: "100G", "40M", "1T". A space may precede the unit. The
// result is in Mbit/s, 1 to kMaxRateMbps. InvalidArgument names the fault in the text and what was expected.
absl::StatusOr<std::uint64_t> parse_rate_mbps(std::string_view text);

// "2us", "1.5us", "500ns", "1ms", "0.1s". The result is in microseconds, 0 to kMaxLatencyUs, in whole nanoseconds.
// InvalidArgument as above.
absl::StatusOr<double> parse_latency_us(std::string_view text);

// "10ms", "1.5s", "0s": a point in time or a duration up to kMaxTimeS seconds. The result is in nanoseconds.
// InvalidArgument as above.
inline constexpr std::uint64_t kMaxTimeS = 86'400;
absl::StatusOr<std::uint64_t> parse_time_ns(std::string_view text);

// The shortest text that parses back to the same number, in the C locale.
std::string number_text(double value);

// Whether `text` has a time unit and is therefore a latency.
bool has_unit_of_time(std::string_view text);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_CABLE_QUANTITY_H_
