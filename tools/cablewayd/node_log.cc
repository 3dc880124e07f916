#include "tools/cablewayd/node_log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/text/absl_view.h"
#include "tools/cablewayd/log_file.h"

namespace cableway {
namespace {

spdlog::level::level_enum level_of(EventSeverity severity) {
  switch (severity) {
    case EventSeverity::kDebug:
      return spdlog::level::debug;
    case EventSeverity::kInfo:
      return spdlog::level::info;
    case EventSeverity::kWarning:
      return spdlog::level::warn;
    case EventSeverity::kError:
      break;
  }
  return spdlog::level::err;
}

// In UTC, as in `cableway events --json`.
std::unique_ptr<spdlog::formatter> line_format() {
  return std::make_unique<spdlog::pattern_formatter>("[%Y-%m-%dT%H:%M:%S.%eZ] [%n] [%l] %v",
                                                     spdlog::pattern_time_type::utc);
}

}  // namespace

NodeLog::NodeLog(std::string file, EventSeverity least)
    : file_(std::move(file)), logger_(std::make_shared<spdlog::logger>("cablewayd", sink_)) {
  auto standard_error = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  standard_error->set_formatter(line_format());
  sink_->add_sink(std::move(standard_error));
  set_least(least);
  logger_->flush_on(level_of(EventSeverity::kDebug));
  logger_->set_error_handler([state = state_](const std::string& why) {
    ++state->errors;
    if (state->reported.exchange(true)) return;
    static_cast<void>(std::fprintf(
        stderr, "cablewayd: %s; the node continues, and further such errors are not shown until the log is reopened\n",
        why.c_str()));
  });
}

void NodeLog::write(const Event& event) {
  logger_->log(event.time, spdlog::source_loc{}, level_of(event.severity()),
               absl::StrCat(routing::absl_view(name_of(event.code)), " ", event.text));
}

void NodeLog::set_least(EventSeverity least) {
  logger_->set_level(level_of(least));
}

absl::Status NodeLog::reopen() {
  if (file_.empty()) return absl::OkStatus();
  absl::StatusOr<std::shared_ptr<LogFile>> opened = LogFile::open(file_);
  if (!opened.ok()) return opened.status();
  (*opened)->set_formatter(line_format());
  sink_->set_sinks({*std::move(opened)});
  state_->reported = false;
  return absl::OkStatus();
}

}  // namespace cableway
