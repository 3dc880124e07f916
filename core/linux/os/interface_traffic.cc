#include "core/linux/os/interface_traffic.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/linux/os/bounded_file.h"

namespace cableway::host {
namespace {

constexpr std::size_t kMaxTableBytes = 256 << 10;
// Of one interface: bytes, packets, errs, drop, fifo, frame, compressed, multicast; then the same for what it sent,
// with other names from the fifth on.
constexpr std::size_t kColumns = 16;
constexpr std::size_t kFirstSent = 8;

TrafficCounts counts_from(const std::array<std::uint64_t, kColumns>& columns, std::size_t first) {
  return {columns[first], columns[first + 1], columns[first + 2], columns[first + 3]};
}

}  // namespace

HostTraffic parse_interface_traffic(std::string_view table) {
  HostTraffic traffic;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(table.data(), table.size()), '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == absl::string_view::npos) continue;
    std::array<std::uint64_t, kColumns> columns{};
    std::size_t filled = 0;
    bool are_numbers = true;
    for (const absl::string_view number : absl::StrSplit(line.substr(colon + 1), ' ', absl::SkipEmpty())) {
      if (filled == kColumns || !absl::SimpleAtoi(number, &columns[filled++])) are_numbers = false;
      if (!are_numbers) break;
    }
    if (!are_numbers || filled != kColumns) continue;
    const absl::string_view name = absl::StripAsciiWhitespace(line.substr(0, colon));
    traffic[std::string(name)] = {counts_from(columns, 0), counts_from(columns, kFirstSent)};
  }
  return traffic;
}

HostTraffic read_interface_traffic() {
  const absl::StatusOr<UniqueFd> file = open_file("/proc/thread-self/net/dev");
  if (!file.ok()) return {};
  const absl::StatusOr<std::string> table = read_in_pieces(*file, kMaxTableBytes);
  return table.ok() ? parse_interface_traffic(*table) : HostTraffic{};
}

}  // namespace cableway::host
