#include "nccl_adapter/memory/registrations.h"

#include <utility>

namespace cableway::nccl {
namespace {

absl::StatusOr<std::unique_ptr<host::VerbsMemory>> register_with(const std::shared_ptr<host::VerbsDevice>& device,
                                                                 const NamedMemory& memory, host::VerbsRights rights) {
  if (memory.kind != NamedMemory::Kind::kDmabuf) {
    return host::VerbsMemory::add(device, memory.data, memory.bytes, rights);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data);
  return host::VerbsMemory::add_dmabuf(device, memory.fd, memory.offset, memory.bytes, address, rights);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const host::VerbsMemory>> Registrations::add(
    const std::shared_ptr<host::VerbsDevice>& device, const NamedMemory& memory, host::VerbsRights rights) {
  const Key key{device.get(), memory.kind, memory.data, memory.bytes, memory.offset, rights};
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  if (auto known = known_.find(key); known != known_.end()) {
    if (auto registered = known->second.lock()) return registered;
  }
  absl::StatusOr<std::unique_ptr<host::VerbsMemory>> added = register_with(device, memory, rights);
  if (!added.ok()) return added.status();
  std::shared_ptr<const host::VerbsMemory> registered = *std::move(added);
  known_[key] = registered;
  return registered;
}

Registrations& shared_registrations() {
  // Never destroyed: NCCL may make calls while the process exits.
  static Registrations& instance = *new Registrations;
  return instance;
}

}  // namespace cableway::nccl
