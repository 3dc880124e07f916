// The file that a log is appended to. It never follows a symbolic link: in a folder that other users may write to, a
// link would make a node append its log to any file that the node's user may write.
#ifndef CABLEWAY_TOOLS_CABLEWAYD_LOG_FILE_H_
#define CABLEWAY_TOOLS_CABLEWAYD_LOG_FILE_H_

#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/linux/os/unique_fd.h"

namespace cableway {

// Whether what `path` names can be a log: nothing yet; a regular file of root or this process's user; or /dev/null or
// /dev/full by any name that is no link. InvalidArgument and FailedPrecondition (another user's file) name the path and
// the remedy. Only the last component of the path may be no link: folders belong to whoever chose the path.
absl::Status check_log_file(const std::string& path);

// Appends whole lines by write(2), so that nothing is lost with the process. A failed write throws spdlog_ex, which
// spdlog hands to the logger's error handler.
class LogFile final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // Creates missing folders, and the file. Errors as of check_log_file(), and FailedPrecondition with the errno's text.
  static absl::StatusOr<std::shared_ptr<LogFile>> open(const std::string& path);

  LogFile(std::string path, host::UniqueFd file);

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

 private:
  const std::string path_;
  const host::UniqueFd file_;
};

}  // namespace cableway

#endif  // CABLEWAY_TOOLS_CABLEWAYD_LOG_FILE_H_
