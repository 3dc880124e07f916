#include "tools/cableway/text/quantity_text.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cableway::cli {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr std::uint64_t kStep = 1024;
  if (bytes < kStep) return absl::StrCat(bytes, " bytes");
  double scaled = static_cast<double>(bytes) / static_cast<double>(kStep);
  std::size_t unit = 0;
  for (; scaled >= static_cast<double>(kStep); ++unit) scaled /= static_cast<double>(kStep);
  return absl::StrFormat("%.1f %s", scaled, kUnits[unit]);
}

std::string rate_text(std::uint64_t rate_mbps) {
  constexpr std::uint64_t kGiga = 1000;
  if (rate_mbps < kGiga) return absl::StrCat(rate_mbps, " Mbit/s");
  return absl::StrCat(static_cast<double>(rate_mbps) / kGiga, " Gbit/s");
}

std::string age_text(std::uint64_t milliseconds) {
  const std::uint64_t seconds = milliseconds / 1000;
  const std::uint64_t minutes = seconds / 60;
  const std::uint64_t hours = minutes / 60;
  if (minutes == 0) return absl::StrFormat("%d.%d s", seconds, milliseconds % 1000 / 100);
  if (hours == 0) return absl::StrFormat("%d min %02d s", minutes, seconds % 60);
  if (hours < 24) return absl::StrFormat("%d h %02d min", hours, minutes % 60);
  return absl::StrCat(hours / 24, " d ", hours % 24, " h");
}

std::string seconds_text(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds < 1e-6) return absl::StrFormat("%.4g ns", seconds * 1e9);
  if (seconds < 1e-3) return absl::StrFormat("%.4g us", seconds * 1e6);
  if (seconds < 1) return absl::StrFormat("%.4g ms", seconds * 1e3);
  return seconds < 1e4 ? absl::StrFormat("%.4g s", seconds) : absl::StrFormat("%.0f s", seconds);
}

std::string latency_text(std::optional<double> latency_us) {
  return latency_us ? absl::StrCat(latency_cell(latency_us), " us") : "-";
}

std::string latency_cell(std::optional<double> latency_us) {
  return latency_us ? absl::StrCat(*latency_us) : "-";
}

std::string percent_text(double share) {
  return absl::StrFormat("%.1f %%", 100 * share);
}

std::string throughput_text(double bytes_per_second) {
  if (bytes_per_second < 1e6) return absl::StrFormat("%.4g kB/s", bytes_per_second / 1e3);
  if (bytes_per_second < 1e9) return absl::StrFormat("%.4g MB/s", bytes_per_second / 1e6);
  return absl::StrFormat("%.4g GB/s", bytes_per_second / 1e9);
}

}  // namespace cableway::cli
