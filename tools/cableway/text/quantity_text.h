// Quantities as human-readable text.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_QUANTITY_TEXT_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_QUANTITY_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace cableway::cli {

// "512 bytes", "64.0 MiB"
std::string bytes_text(std::uint64_t bytes);
// "10 Gbit/s", "2.5 Gbit/s", "100 Mbit/s"
std::string rate_text(std::uint64_t rate_mbps);
// "0.4 s", "12.3 s", "5 min 03 s", "3 h 02 min", "12 d 4 h"
std::string age_text(std::uint64_t milliseconds);
// A duration to four digits: "0 s", "12.35 us", "375.8 ms", "1.234 s"
std::string seconds_text(double seconds);
// A latency in microseconds: "2.5 us"; "-" if it is not known. latency_cell() omits the unit, for tables.
std::string latency_text(std::optional<double> latency_us);
std::string latency_cell(std::optional<double> latency_us);
// Of a share: "97.3 %"
std::string percent_text(double share);
// "312.5 MB/s", "1.25 GB/s", in powers of 1000
std::string throughput_text(double bytes_per_second);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_QUANTITY_TEXT_H_
