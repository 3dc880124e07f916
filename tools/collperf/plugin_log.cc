#include "tools/collperf/plugin_log.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace cableway::collperf {
namespace {

namespace abi = nccl::abi;

struct LogState {
  std::mutex mutex;
  int rank = 0;
  bool verbose = false;
  bool trace = false;
  std::string last_warning;
};

// Never destroyed: a plugin's threads may log until the process ends.
LogState& log_state() {
  static LogState* const state = new LogState;
  return *state;
}

const char* level_name(abi::LogLevel level) {
  switch (level) {
    case abi::kLogVersion:
      return "VERSION";
    case abi::kLogWarn:
      return "WARN";
    case abi::kLogInfo:
      return "INFO";
    case abi::kLogAbort:
      return "ABORT";
    case abi::kLogTrace:
      return "TRACE";
    default:
      return "NONE";
  }
}

bool is_shown(const LogState& state, abi::LogLevel level) {
  if (level == abi::kLogTrace) return state.trace;
  if (level == abi::kLogInfo || level == abi::kLogVersion) return state.verbose;
  return level != abi::kLogNone;
}

__attribute__((format(printf, 5, 6))) void write_line(abi::LogLevel level, unsigned long flags, const char* file,
                                                      int line, const char* format, ...) {
  std::array<char, 2048> text;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);

  LogState& state = log_state();
  const std::lock_guard lock(state.mutex);
  if (level == abi::kLogWarn || level == abi::kLogAbort) state.last_warning = text.data();
  if (!is_shown(state, level)) return;
  // NCCL drops lines without a subsystem; the note tells plugin authors.
  const char* const note = flags == 0 ? " (flags 0: NCCL would drop this line)" : "";
  std::fprintf(stderr, "collperf[%d] plugin %s %s:%d %s%s\n", state.rank, level_name(level),
               file == nullptr ? "?" : file, line, text.data(), note);
}

}  // namespace

void configure_plugin_log(int rank, bool verbose, bool trace) {
  LogState& state = log_state();
  const std::lock_guard lock(state.mutex);
  state.rank = rank;
  state.verbose = verbose;
  state.trace = trace;
}

nccl::abi::Logger plugin_logger() {
  return &write_line;
}

std::string last_plugin_warning() {
  LogState& state = log_state();
  const std::lock_guard lock(state.mutex);
  return state.last_warning;
}

}  // namespace cableway::collperf
