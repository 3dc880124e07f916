#include "nccl_adapter/memory/flow_memory.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flow/chunk_link.h"
#include "nccl_adapter/memory/registrations.h"

namespace cableway::nccl {
namespace {

// A device reads within microseconds.
constexpr std::chrono::milliseconds kLastFlush{20};

absl::Status no_gpu_memory_over_tcp() {
  return absl::FailedPreconditionError(
      "its hop at this host goes over TCP, which cannot carry GPU memory: set NCCL_NET_GDR_LEVEL=LOC to have NCCL copy "
      "it through the host, or CABLEWAY_TRANSPORT=tcp or auto, with which Cableway does not offer to carry it");
}

std::vector<std::unique_ptr<MemoryRegion>>::const_iterator find(
    const std::vector<std::unique_ptr<MemoryRegion>>& regions, const MemoryRegion* region) {
  return std::find_if(regions.begin(), regions.end(), [region](const auto& owned) { return owned.get() == region; });
}

// NCCL closes its own descriptor once the memory is registered.
absl::Status keep_dmabuf(MemoryRegion& region) {
  if (region.named.kind != NamedMemory::Kind::kDmabuf) return absl::OkStatus();
  region.dmabuf = host::UniqueFd(::fcntl(region.named.fd, F_DUPFD_CLOEXEC, 0));
  if (region.dmabuf.get() < 0) {
    return absl::ResourceExhaustedError(absl::StrCat("no descriptor for a dmabuf: ", std::strerror(errno)));
  }
  region.named.fd = region.dmabuf.get();
  return absl::OkStatus();
}

}  // namespace

absl::Status FlowMemory::attach(std::size_t slot, const host::HopLink& hop) {
  detach(slot);
  hops_[slot].link = &hop;
  for (const std::unique_ptr<MemoryRegion>& region : regions_) {
    if (absl::Status status = register_with(slot, *region); !status.ok()) {
      detach(slot);
      return status;
    }
  }
  return absl::OkStatus();
}

void FlowMemory::circuit_ended(std::size_t slot) {
  if (!std::exchange(hops_[slot].ended, true)) hops_[slot].flushes_left = kMaxLandings;
}

void FlowMemory::detach(std::size_t slot) {
  if (hops_[slot].flush != nullptr && hops_[slot].flushes_left > 0) flush_last(slot);
  for (const std::unique_ptr<MemoryRegion>& region : regions_) {
    region->registrations[slot].reset();
    region->local_keys[slot] = region->remote_keys[slot] = 0;
  }
  for (Reads& reads : reads_) {
    const bool pending = hops_[slot].flush != nullptr && reads[slot] < kLostRead &&
                         !hops_[slot].flush->done(reads[slot]).value_or(false);
    reads[slot] = pending ? kLostRead : kNoRead;
  }
  hops_[slot] = {};
}

void FlowMemory::flush_last(std::size_t slot) {
  Hop& hop = hops_[slot];
  const auto until = std::chrono::steady_clock::now() + kLastFlush;
  const auto wait = [&]() -> absl::Status {
    while (hop.flush->next() > 0) {
      const absl::StatusOr<bool> done = hop.flush->done(hop.flush->next() - 1);
      if (!done.ok() || *done) return done.status();
      if (std::chrono::steady_clock::now() > until) return absl::DeadlineExceededError("it does not answer");
      std::this_thread::yield();
    }
    return absl::OkStatus();
  };
  absl::Status status = wait();
  for (const std::unique_ptr<MemoryRegion>& region : regions_) {
    if (!status.ok()) break;
    if (!region->is_gpus || region->registrations[slot] == nullptr) continue;
    status = hop.flush->read(reinterpret_cast<std::uintptr_t>(region->data), region->remote_keys[slot]).status();
    if (status.ok()) status = wait();
  }
  if (status.ok()) return;
  lost_flushes_ = std::max(lost_flushes_, hop.flushes_left);
  lost_flush_ = absl::UnavailableError(absl::StrCat(
      "the device of a circuit that has ended cannot flush what it wrote into GPU memory: ", status.message()));
}

absl::StatusOr<MemoryRegion*> FlowMemory::add(const NamedMemory& memory, bool lands) {
  auto region = std::make_unique<MemoryRegion>();
  region->comm = comm_;
  region->data = static_cast<std::byte*>(memory.data);
  region->bytes = memory.bytes;
  region->is_gpus = memory.is_gpus();
  region->lands = lands;
  region->named = memory;
  if (absl::Status status = keep_dmabuf(*region); !status.ok()) return status;
  for (std::size_t slot = 0; slot < hops_.size(); ++slot) {
    if (hops_[slot].link == nullptr || hops_[slot].ended) continue;
    if (absl::Status status = register_with(slot, *region); !status.ok()) return status;
  }
  regions_.push_back(std::move(region));
  return regions_.back().get();
}

absl::Status FlowMemory::register_with(std::size_t slot, MemoryRegion& region) {
  Hop& hop = hops_[slot];
  const host::MemoryRegistrar* const registrar = hop.link->registrar();
  if (registrar == nullptr) return region.is_gpus ? no_gpu_memory_over_tcp() : absl::OkStatus();
  if (region.is_gpus && region.lands && hop.flush == nullptr) {
    absl::StatusOr<std::unique_ptr<host::MemoryFlush>> made = registrar->make_flush();
    if (!made.ok()) return made.status();
    hop.flush = *std::move(made);
  }
  auto registration = shared_registrations().add(*registrar, region.named,
                                                 {.lands = region.lands, .flushes = region.lands && region.is_gpus});
  if (!registration.ok()) {
    if (region.named.kind != NamedMemory::Kind::kPeer) return registration.status();
    return absl::Status(registration.status().code(),
                        absl::StrCat(registration.status().message(),
                                     "; this is GPU memory, which requires the nvidia_peermem module"));
  }
  region.local_keys[slot] = (*registration)->local_key();
  region.remote_keys[slot] = (*registration)->remote_key();
  region.registrations[slot] = *std::move(registration);
  return absl::OkStatus();
}

bool FlowMemory::holds(const MemoryRegion* region) const {
  return find(regions_, region) != regions_.end();
}

void FlowMemory::remove(const MemoryRegion* region) {
  regions_.erase(find(regions_, region));
}

// A device's read orders its own earlier writes only, so every device that may have written reads.
absl::StatusOr<std::uint64_t> FlowMemory::flush(const MemoryRegion& region, const void* at) {
  if (absl::Status status = can_flush(); !status.ok()) return status;
  if (lost_flushes_ > 0) {
    --lost_flushes_;
    return lost_flush_;
  }
  Reads& reads = reads_[next_flush_ % reads_.size()];
  reads.fill(kNoRead);
  for (std::size_t slot = 0; slot < hops_.size(); ++slot) {
    Hop& hop = hops_[slot];
    // Without a registration the device has not written there.
    if (hop.flush == nullptr || region.registrations[slot] == nullptr) continue;
    if (hop.ended && hop.flushes_left == 0) continue;
    if (hop.ended) --hop.flushes_left;
    const absl::StatusOr<std::uint64_t> read =
        hop.flush->read(reinterpret_cast<std::uintptr_t>(at), region.remote_keys[slot]);
    if (!read.ok()) return read.status();
    reads[slot] = *read;
  }
  return next_flush_++;
}

absl::StatusOr<bool> FlowMemory::flushed(std::uint64_t number) {
  if (absl::Status status = can_flush(); !status.ok()) return status;
  const Reads& reads = reads_[number % reads_.size()];
  for (std::size_t slot = 0; slot < hops_.size(); ++slot) {
    if (reads[slot] == kLostRead) {
      return absl::UnavailableError("the circuit that received into GPU memory was replaced before it was flushed");
    }
    if (reads[slot] == kNoRead || hops_[slot].flush == nullptr) continue;
    absl::StatusOr<bool> done = hops_[slot].flush->done(reads[slot]);
    if (!done.ok() || !*done) return done;
  }
  return true;
}

absl::Status FlowMemory::can_flush() const {
  return flushes_ended_ ? absl::FailedPreconditionError("it no longer flushes") : absl::OkStatus();
}

void FlowMemory::end_flushes() {
  flushes_ended_ = true;
  for (Hop& hop : hops_) hop.flush.reset();
}

}  // namespace cableway::nccl
