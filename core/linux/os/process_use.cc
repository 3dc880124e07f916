#include "core/linux/os/process_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "core/linux/os/bounded_file.h"

namespace cableway::host {
namespace {

constexpr std::size_t kMaxProcFileBytes = 4096;

std::vector<std::string> words_of(const std::string& path, const char* after) {
  const absl::StatusOr<UniqueFd> file = open_file(path);
  if (!file.ok()) return {};
  const absl::StatusOr<std::string> text = read_in_pieces(*file, kMaxProcFileBytes);
  if (!text.ok()) return {};
  const std::size_t end = text->rfind(after);
  const absl::string_view rest =
      end == std::string::npos ? absl::string_view(*text) : absl::string_view(*text).substr(end + 1);
  return absl::StrSplit(rest, absl::ByAnyChar(" \n"), absl::SkipEmpty());
}

std::uint64_t number_at(const std::vector<std::string>& words, std::size_t place) {
  std::uint64_t number = 0;
  return place < words.size() && absl::SimpleAtoi(words[place], &number) ? number : 0;
}

double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The kernel gives it in ticks since the host's start.
double start_time() {
  constexpr std::size_t kStartColumn = 19;  // after the command's name in parentheses (proc(5), field 22)
  const std::uint64_t ticks = number_at(words_of("/proc/self/stat", ")"), kStartColumn);
  const long per_second = ::sysconf(_SC_CLK_TCK);
  timespec now{};
  timespec since_boot{};
  if (ticks == 0 || per_second <= 0) return 0;
  if (::clock_gettime(CLOCK_REALTIME, &now) != 0 || ::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return 0;
  return seconds(now) - seconds(since_boot) + static_cast<double>(ticks) / static_cast<double>(per_second);
}

std::uint64_t count_open_files() {
  std::error_code error;
  std::uint64_t count = 0;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    ++count;
    entry.increment(error);
  }
  return count > 0 ? count - 1 : 0;  // without the one that reads the folder
}

}  // namespace

ProcessUse read_process_use() {
  static const double started = start_time();
  ProcessUse use;
  timespec cpu{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0) use.cpu_s = seconds(cpu);
  const std::vector<std::string> pages = words_of("/proc/self/statm", ")");
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  use.virtual_bytes = number_at(pages, 0) * page;
  use.resident_bytes = number_at(pages, 1) * page;
  use.open_files = count_open_files();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) use.max_files = limit.rlim_cur;
  use.start_time_s = started;
  return use;
}

}  // namespace cableway::host
