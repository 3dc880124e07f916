// Tells when files come into a folder or go, or their owner or mode changes: of device files, that a device did.
#ifndef CABLEWAY_CORE_LINUX_OS_FOLDER_WATCH_H_
#define CABLEWAY_CORE_LINUX_OS_FOLDER_WATCH_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace cableway::host {

// Wakes for that alone. One thread, the one that runs `io`.
class FolderWatch {
 public:
  // `changed` is called once for all that has happened since the last call; it may destroy the watch. NotFound: there
  // is no such folder, and one that comes later is not noticed. A folder that goes away takes the watch along.
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
