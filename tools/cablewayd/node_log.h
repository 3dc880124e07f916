// Where a node's events go as lines of text. A log that cannot be written never hurts the node: nothing is thrown, the
// lines are lost and counted, and standard error hears of it once.
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

// One thread.
class NodeLog {
 public:
  // Logs to standard error until reopen() has opened `file`; for good where that is empty.
  NodeLog(std::string file, spdlog::level::level_enum level);

  // Opens the file, again if it was open, as after its rotation. Where that fails, the log goes on as before.
  absl::Status reopen();

  // A line with the event's time, severity, code and text, where its severity is not below the level.
  void write(const Event& event);
  void set_level(spdlog::level::level_enum level) { logger_->set_level(level); }

  // Writes that failed so far.
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
