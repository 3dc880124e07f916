// Watches a folder for files that are created or removed, or change owner or mode. For device files, this follows their
// devices.
#ifndef CABLEWAY_CORE_LINUX_OS_FOLDER_WATCH_H_
#define CABLEWAY_CORE_LINUX_OS_FOLDER_WATCH_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace cableway::host {

// Wakes up for these changes only. One thread, the one that runs `io`.
class FolderWatch {
 public:
  // Calls `changed` once for all changes since the last call; it may destroy the watch. NotFound: the folder does not
  // exist; its later creation is not noticed. The watch ends when the folder is removed.
  static absl::StatusOr<std::unique_ptr<FolderWatch>> start(boost::asio::io_context& io, const std::string& folder,
                                                            std::function<void()> changed);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

 private:
  struct State;
  explicit FolderWatch(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_FOLDER_WATCH_H_
