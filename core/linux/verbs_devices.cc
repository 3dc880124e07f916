#include "core/linux/verbs_devices.h"

#include <utility>

namespace cableway::linux_ {

VerbsDevices& VerbsDevices::of_this_process() {
  // Never destroyed: memory may be registered until the very end.
  static auto& devices = *new VerbsDevices;
  return devices;
}

absl::StatusOr<VerbsDevices::Numbered> VerbsDevices::open(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (std::size_t number = 0; number < opened_.size(); ++number) {
    if (opened_[number]->name() == name && !opened_[number]->is_lost()) return Numbered{number, opened_[number]};
  }
  absl::StatusOr<std::shared_ptr<VerbsDevice>> device = VerbsDevice::open(name);
  if (!device.ok()) return device.status();
  opened_.push_back(*std::move(device));
  return Numbered{opened_.size() - 1, opened_.back()};
}

std::vector<std::shared_ptr<VerbsDevice>> VerbsDevices::opened() const {
  const std::lock_guard lock(mutex_);
  return opened_;
}

}  // namespace cableway::linux_
