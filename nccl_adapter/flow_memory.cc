#include "nccl_adapter/flow_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/linux/random_value.h"
#include "nccl_adapter/registrations.h"

namespace cableway::nccl {
namespace {

absl::Status no_gpus_memory_over_tcp() {
  return absl::FailedPreconditionError(
      "its hop at this host goes over TCP, which cannot carry the memory of GPUs: NCCL_NET_GDR_LEVEL=LOC has NCCL copy "
      "it through the host, and with CABLEWAY_TRANSPORT=tcp or auto Cableway does not offer to carry it");
}

// The writes of one message may be looked at before the notice that follows them (NCCL's LL protocols have flags among
// the data), so they have to arrive in order: no relaxed ordering, whatever the memory is.
linux_::VerbsRights rights_of(const NamedMemory& memory, bool lands) {
  if (!lands) return {};
  return {.remote_write = true, .remote_read = memory.is_gpus()};
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
  if (hop_.device() != nullptr) {
    auto registration = register_memory(memory, lands);
    if (!registration.ok()) return registration.status();
    region->registration = *std::move(registration);
  } else if (memory.is_gpus()) {
    return no_gpus_memory_over_tcp();
  }
  regions_.push_back(std::move(region));
  return regions_.back().get();
}

absl::StatusOr<std::shared_ptr<const linux_::VerbsMemory>> FlowMemory::register_memory(const NamedMemory& memory,
                                                                                       bool lands) {
  if (memory.is_gpus() && lands && flush_ == nullptr) {
    if (absl::Status status = make_flush(); !status.ok()) return status;
  }
  auto registration = shared_registrations().add(hop_.device(), memory, rights_of(memory, lands));
  if (registration.ok() || memory.kind != NamedMemory::Kind::kPeer) return registration;
  return absl::Status(
      registration.status().code(),
      absl::StrCat(registration.status().message(), "; it is a GPU's, for which nvidia_peermem has to be loaded"));
}

absl::Status FlowMemory::make_flush() {
  const linux_::VerbsQueuePair* const beside = hop_.queue_pair();
  absl::StatusOr<std::unique_ptr<linux_::VerbsFlush>> made =
      linux_::VerbsFlush::create(hop_.device(), beside->gid(), linux_::random_packet_sequence(), beside->options());
  if (!made.ok()) {
    return absl::Status(
        made.status().code(),
        absl::StrCat("no connection with itself, which flushing a GPU's memory needs: ", made.status().message()));
  }
  flush_ = *std::move(made);
  return absl::OkStatus();
}

bool FlowMemory::holds(const MemoryRegion* region) const {
  return find(regions_, region) != regions_.end();
}

void FlowMemory::remove(const MemoryRegion* region) {
  regions_.erase(find(regions_, region));
}

absl::StatusOr<std::uint64_t> FlowMemory::flush(const MemoryRegion& region, const void* at) {
  if (flush_ == nullptr) return absl::FailedPreconditionError("nothing is flushed on it any more");
  return flush_->read(reinterpret_cast<std::uintptr_t>(at), remote_key(&region));
}

absl::StatusOr<bool> FlowMemory::flushed(std::uint64_t number) {
  if (flush_ == nullptr) return absl::FailedPreconditionError("nothing is flushed on it any more");
  absl::StatusOr<bool> done = flush_->done(number);
  // What a dead device was asked for never comes back.
  if (!done.ok() || *done || !hop_.device()->is_lost()) return done;
  return absl::UnavailableError(absl::StrCat("RDMA device ", hop_.device()->name(),
                                             " has failed before it read back what it wrote into a GPU's memory"));
}

}  // namespace cableway::nccl
