#include "core/linux/os/thread_time.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

namespace cableway::host {
namespace {

// "1234 567 89": nanoseconds running, nanoseconds waiting for a processor, and the number of time slices.
std::optional<Duration> parse_schedstat(std::string_view text) {
  std::int64_t on = 0;
  std::int64_t waiting = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, on);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ' ') return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, waiting).ec != std::errc{}) return std::nullopt;
  return Duration(on + waiting);
}

Duration on_processor() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

ThreadTime::ThreadTime() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

Duration ThreadTime::spent() const {
  std::array<char, 96> text{};
  const ssize_t size = file_.valid() ? ::pread(file_.get(), text.data(), text.size(), 0) : 0;
  if (size <= 0) return on_processor();
  return parse_schedstat({text.data(), static_cast<std::size_t>(size)}).value_or(on_processor());
}

}  // namespace cableway::host
