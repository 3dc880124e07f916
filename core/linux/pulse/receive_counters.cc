#include "core/linux/pulse/receive_counters.h"

#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/linux/os/uninterrupted.h"

namespace cableway::host {
namespace {

constexpr std::size_t kPacketsColumn = 1;  // after bytes

// "9000 22 0 7": the columns of one interface.
std::uint64_t packets_in(absl::string_view columns) {
  std::size_t column = 0;
  for (absl::string_view number : absl::StrSplit(columns, ' ', absl::SkipEmpty())) {
    std::uint64_t packets = 0;
    if (column++ == kPacketsColumn) return absl::SimpleAtoi(number, &packets) ? packets : 0;
  }
  return 0;
}

}  // namespace

void take_received_packets(std::string_view table, ReceivedPackets& packets) {
  for (absl::string_view line : absl::StrSplit(absl::string_view(table.data(), table.size()), '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == absl::string_view::npos) continue;
    const absl::string_view trimmed = absl::StripAsciiWhitespace(line.substr(0, colon));
    const std::string_view name(trimmed.data(), trimmed.size());
    const std::uint64_t count = packets_in(line.substr(colon + 1));
    const auto known = packets.find(name);
    if (known == packets.end()) {
      packets.emplace(name, count);
    } else {
      known->second = count;
    }
  }
}

ReceiveCounters::ReceiveCounters()
    : table_(::open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC)), text_(kMaxTableBytes) {}

void ReceiveCounters::refresh() {
  std::size_t filled = 0;
  while (filled < text_.size()) {
    const ssize_t got = uninterrupted([&] {
      return ::pread(table_.get(), text_.data() + filled, text_.size() - filled, static_cast<off_t>(filled));
    });
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  take_received_packets({text_.data(), filled}, packets_);
}

std::uint64_t ReceiveCounters::packets(std::string_view interface) const {
  const auto known = packets_.find(interface);
  return known == packets_.end() ? 0 : known->second;
}

}  // namespace cableway::host
