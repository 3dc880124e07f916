// The RDMA devices that this process has opened: each once, however many ports, memory regions and queue pairs use it.
#ifndef CABLEWAY_CORE_LINUX_VERBS_DEVICES_H_
#define CABLEWAY_CORE_LINUX_VERBS_DEVICES_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/verbs_device.h"

namespace cableway::linux_ {

// Any thread; not for the data path.
class VerbsDevices {
 public:
  struct Numbered {
    std::size_t number = 0;  // what registrations with several devices are counted by (core/rdma_slot.h)
    std::shared_ptr<VerbsDevice> device;
  };

  static VerbsDevices& of_this_process();

  // The device of that name, numbered from 0 in the order in which they were first opened. One that has failed is
  // opened anew and gets a number of its own. Errors are VerbsDevice::open()'s, and the next call tries again.
  absl::StatusOr<Numbered> open(const std::string& name);
  // All that are open, each at the place of its number.
  std::vector<std::shared_ptr<VerbsDevice>> opened() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<VerbsDevice>> opened_;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_VERBS_DEVICES_H_
