// The RDMA devices that this process has opened: each once, however many ports, memory regions and queue pairs use it.
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

// Any thread; not for the data path.
class VerbsDevices {
 public:
  struct Numbered {
    std::size_t number = 0;  // what registrations with several devices are counted by (core/rdma/registered_slot.h)
    std::shared_ptr<VerbsDevice> device;
  };

  static VerbsDevices& of_this_process();

  // The device of that name, numbered from 0 in the order in which they were first opened. One that has failed is
  // opened again and gets another number as long as something still uses the failed one. Errors are
  // VerbsDevice::open()'s, and the next call tries again.
  absl::StatusOr<Numbered> open(const std::string& name);
  // It has failed, or is gone: nobody is given it any more, and it is closed when the last that uses it lets go.
  void give_up(const std::shared_ptr<VerbsDevice>& device);
  // All that are open, each at the place of its number; null where one was given up.
  std::vector<std::shared_ptr<VerbsDevice>> opened() const;

 private:
  struct Place {
    std::shared_ptr<VerbsDevice> device;      // null: given up
    std::weak_ptr<const VerbsDevice> in_use;  // the same, until nobody uses it any more
  };

  mutable std::mutex mutex_;
  std::vector<Place> places_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_DEVICES_H_
