#include "nccl_adapter/memory/registrations.h"

#include <utility>

namespace cableway::nccl {
namespace {

absl::StatusOr<std::unique_ptr<host::RegisteredMemory>> register_with(const host::MemoryRegistrar& registrar,
                                                                      const NamedMemory& memory,
                                                                      host::MemoryAccess access) {
  if (memory.kind != NamedMemory::Kind::kDmabuf) return registrar.add(memory.data, memory.bytes, access);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data);
  return registrar.add_dmabuf(memory.fd, memory.offset, memory.bytes, address, access);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const host::RegisteredMemory>> Registrations::add(const host::MemoryRegistrar& registrar,
                                                                                 const NamedMemory& memory,
                                                                                 host::MemoryAccess access) {
  const Key key{registrar.device(), memory.kind, memory.data, memory.bytes, memory.offset, access};
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  if (auto known = known_.find(key); known != known_.end()) {
    if (auto registered = known->second.lock()) return registered;
  }
  absl::StatusOr<std::unique_ptr<host::RegisteredMemory>> added = register_with(registrar, memory, access);
  if (!added.ok()) return added.status();
  std::shared_ptr<const host::RegisteredMemory> registered = *std::move(added);
  known_[key] = registered;
  return registered;
}

Registrations& shared_registrations() {
  // Never destroyed: NCCL may make calls while the process exits.
  static Registrations& instance = *new Registrations;
  return instance;
}

}  // namespace cableway::nccl
