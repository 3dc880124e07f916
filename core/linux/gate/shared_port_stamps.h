// The page of port stamps (core/gate/port_stamps.h) that a node shares with the processes of its host: an anonymous
// file. Each process receives its descriptor with its first Welcome.
#ifndef CABLEWAY_CORE_LINUX_GATE_SHARED_PORT_STAMPS_H_
#define CABLEWAY_CORE_LINUX_GATE_SHARED_PORT_STAMPS_H_

#include <atomic>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/gate/port_stamps.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

class SharedPortStamps {
 public:
  // For a node: a new page. Its file cannot be resized, so no process's access can fail.
  static absl::StatusOr<std::unique_ptr<SharedPortStamps>> create();
  // For a process that does not have the node's page yet: a page of its own.
  static absl::StatusOr<std::unique_ptr<SharedPortStamps>> create_unshared();
  ~SharedPortStamps();
  SharedPortStamps(const SharedPortStamps&) = delete;
  SharedPortStamps& operator=(const SharedPortStamps&) = delete;

  // Maps a node's page in place of the present one, at the same address; safe while other threads use the page.
  // NotFound: the descriptor is invalid. InvalidArgument: the file is not a page of port stamps. On an error the page
  // stays unshared.
  absl::Status adopt(const UniqueFd& file);

  PortStampPage& page() { return *page_; }
  // Whether the page is the node's. Callable from any thread.
  bool is_shared() const { return is_shared_.load(std::memory_order_relaxed); }
  // Invalid if the page is unshared or another process's.
  const UniqueFd& file() const { return file_; }

 private:
  SharedPortStamps(UniqueFd file, PortStampPage* page) : file_(std::move(file)), page_(page) {}

  const UniqueFd file_;
  PortStampPage* const page_;
  std::atomic<bool> is_shared_ = false;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_GATE_SHARED_PORT_STAMPS_H_
