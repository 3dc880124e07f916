#include "core/linux/rdma/verbs_devices.h"

#include <algorithm>
#include <utility>

namespace cableway::host {

VerbsDevices& VerbsDevices::of_this_process() {
  // Never destroyed: memory may stay registered until the process exits.
  static auto& devices = *new VerbsDevices;
  return devices;
}

absl::StatusOr<VerbsDevices::Numbered> VerbsDevices::open(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (std::size_t number = 0; number < places_.size(); ++number) {
    std::shared_ptr<VerbsDevice>& device = places_[number].device;
    if (device == nullptr || device->name() != name) continue;
    if (!device->is_lost()) return Numbered{number, device};
    device.reset();
  }
  absl::StatusOr<std::shared_ptr<VerbsDevice>> device = VerbsDevice::open(name);
  if (!device.ok()) return device.status();
  const auto free =
      std::find_if(places_.begin(), places_.end(), [](const Place& place) { return place.in_use.expired(); });
  const auto number = static_cast<std::size_t>(free - places_.begin());
  if (free == places_.end()) places_.emplace_back();
  places_[number] = Place{*device, *device};
  return Numbered{number, *std::move(device)};
}

void VerbsDevices::give_up(const std::shared_ptr<VerbsDevice>& device) {
  device->give_up();
  const std::lock_guard lock(mutex_);
  for (Place& place : places_) {
    if (place.device == device) place.device.reset();
  }
}

void VerbsDevices::check() {
  for (const std::shared_ptr<VerbsDevice>& device : opened()) {
    if (device == nullptr) continue;
    while (device->next_event()) {
    }
    if (device->is_lost() || device->is_removed()) give_up(device);
  }
}

std::vector<std::shared_ptr<VerbsDevice>> VerbsDevices::opened() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<VerbsDevice>> devices;
  devices.reserve(places_.size());
  for (const Place& place : places_) devices.push_back(place.device);
  return devices;
}

}  // namespace cableway::host
