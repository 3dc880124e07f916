// The RDMA devices that this process has opened: each once, regardless of how many ports, memory regions and queue
// pairs use it.
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_DEVICES_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_DEVICES_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/rdma/verbs_device.h"

namespace cableway::host {

// Callable from any thread; not for the data path.
class VerbsDevices {
 public:
  struct Numbered {
    std::size_t number = 0;  // indexes registrations with several devices (core/rdma/registered_slot.h)
    std::shared_ptr<VerbsDevice> device;
  };

  static VerbsDevices& of_this_process();

  // The device of that name, numbered from 0 in the order of first opening. A device that has failed is reopened, under
  // another number while the failed one is still in use. Errors are those of VerbsDevice::open(); the next call
  // retries.
  absl::StatusOr<Numbered> open(const std::string& name);
  // The device has failed or was removed: open() no longer returns it, and it is closed when its last user releases it.
  void give_up(const std::shared_ptr<VerbsDevice>& device);
  // Reads the devices' events, which they store for their users, and gives up devices that have failed. Call
  // periodically.
  void check();
  // All open devices, indexed by number; null where one was given up.
  std::vector<std::shared_ptr<VerbsDevice>> opened() const;

 private:
  struct Place {
    std::shared_ptr<VerbsDevice> device;      // null: given up
    std::weak_ptr<const VerbsDevice> in_use;  // the same, while it has users
  };

  mutable std::mutex mutex_;
  std::vector<Place> places_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_DEVICES_H_
