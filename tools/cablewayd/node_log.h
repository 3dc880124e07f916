// Logs a node's events as lines of text. A log that cannot be written never affects the node: nothing is thrown, the
// lines are lost and counted, and the first error is reported on standard error.
#ifndef CABLEWAY_TOOLS_CABLEWAYD_NODE_LOG_H_
#define CABLEWAY_TOOLS_CABLEWAYD_NODE_LOG_H_

#include <spdlog/logger.h>
#include <spdlog/sinks/dist_sink.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/event/event.h"

namespace cableway {

// Used by one thread.
class NodeLog {
 public:
  // Logs to standard error until reopen() has opened `file`; always if that is empty.
  NodeLog(std::string file, EventSeverity least);

  // Opens or reopens the file, as after a log rotation. On failure, logging continues unchanged.
  absl::Status reopen();

  // Writes a line with the event's time, severity, code and text, unless its severity is below the least.
  void write(const Event& event);
  void set_least(EventSeverity least);

  // Number of failed writes.
  std::uint64_t write_errors() const { return state_->errors; }

 private:
  struct State {
    std::atomic<std::uint64_t> errors{0};
    std::atomic<bool> reported{false};
  };

  const std::string file_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  const std::shared_ptr<spdlog::sinks::dist_sink_mt> sink_ = std::make_shared<spdlog::sinks::dist_sink_mt>();
  const std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace cableway

#endif  // CABLEWAY_TOOLS_CABLEWAYD_NODE_LOG_H_
