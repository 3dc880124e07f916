#include "nccl_adapter/registrations.h"

#include <utility>

namespace cableway::nccl {

absl::StatusOr<std::shared_ptr<const linux_::VerbsMemory>> Registrations::add(
    const std::shared_ptr<linux_::VerbsDevice>& device, void* data, std::size_t bytes, linux_::VerbsRights rights) {
  const Key key{device.get(), data, bytes, rights.remote_write, rights.relaxed_ordering};
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  if (auto known = known_.find(key); known != known_.end()) {
    if (auto memory = known->second.lock()) return memory;
  }
  absl::StatusOr<std::unique_ptr<linux_::VerbsMemory>> added = linux_::VerbsMemory::add(device, data, bytes, rights);
  if (!added.ok()) return added.status();
  std::shared_ptr<const linux_::VerbsMemory> memory = *std::move(added);
  known_[key] = memory;
  return memory;
}

Registrations& shared_registrations() {
  // Never destroyed: NCCL may call while the process exits.
  static Registrations& instance = *new Registrations;
  return instance;
}

}  // namespace cableway::nccl
