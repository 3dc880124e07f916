#include "nccl_adapter/memory/flow_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nccl_adapter/memory/registrations.h"

namespace cableway::nccl {
namespace {

// The circuit whose device does the flushing.
constexpr std::size_t kFlushes = 0;

absl::Status no_gpu_memory_over_tcp() {
  return absl::FailedPreconditionError(
      "its hop at this host goes over TCP, which cannot carry GPU memory: set NCCL_NET_GDR_LEVEL=LOC to have NCCL copy "
      "it through the host, or CABLEWAY_TRANSPORT=tcp or auto, with which Cableway does not offer to carry it");
}

std::vector<std::unique_ptr<MemoryRegion>>::const_iterator find(
    const std::vector<std::unique_ptr<MemoryRegion>>& regions, const MemoryRegion* region) {
  return std::find_if(regions.begin(), regions.end(), [region](const auto& owned) { return owned.get() == region; });
}

}  // namespace

absl::StatusOr<MemoryRegion*> FlowMemory::add(const NamedMemory& memory, bool lands) {
  auto region = std::make_unique<MemoryRegion>();
  region->comm = comm_;
  region->data = static_cast<std::byte*>(memory.data);
  region->bytes = memory.bytes;
  region->is_gpus = memory.is_gpus();
  for (std::size_t circuit = 0; circuit < hops_.size(); ++circuit) {
    const host::MemoryRegistrar* const registrar = hops_[circuit]->registrar();
    if (registrar == nullptr) {
      if (memory.is_gpus()) return no_gpu_memory_over_tcp();
      continue;
    }
    auto registration = register_memory(*registrar, memory, lands);
    if (!registration.ok()) return registration.status();
    region->local_keys[circuit] = (*registration)->local_key();
    region->remote_keys[circuit] = (*registration)->remote_key();
    region->registrations[circuit] = *std::move(registration);
  }
  regions_.push_back(std::move(region));
  return regions_.back().get();
}

absl::StatusOr<std::shared_ptr<const host::RegisteredMemory>> FlowMemory::register_memory(
    const host::MemoryRegistrar& registrar, const NamedMemory& memory, bool lands) {
  if (memory.is_gpus() && lands && flush_ == nullptr) {
    absl::StatusOr<std::unique_ptr<host::MemoryFlush>> made = registrar.make_flush();
    if (!made.ok()) return made.status();
    flush_ = *std::move(made);
  }
  auto registration =
      shared_registrations().add(registrar, memory, {.lands = lands, .flushes = lands && memory.is_gpus()});
  if (registration.ok() || memory.kind != NamedMemory::Kind::kPeer) return registration;
  return absl::Status(
      registration.status().code(),
      absl::StrCat(registration.status().message(), "; this is GPU memory, which requires the nvidia_peermem module"));
}

bool FlowMemory::holds(const MemoryRegion* region) const {
  return find(regions_, region) != regions_.end();
}

void FlowMemory::remove(const MemoryRegion* region) {
  regions_.erase(find(regions_, region));
}

absl::StatusOr<std::uint64_t> FlowMemory::flush(const MemoryRegion& region, const void* at) {
  if (flush_ == nullptr) return absl::FailedPreconditionError("it no longer flushes");
  return flush_->read(reinterpret_cast<std::uintptr_t>(at), region.remote_keys[kFlushes]);
}

absl::StatusOr<bool> FlowMemory::flushed(std::uint64_t number) {
  if (flush_ == nullptr) return absl::FailedPreconditionError("it no longer flushes");
  return flush_->done(number);
}

}  // namespace cableway::nccl
