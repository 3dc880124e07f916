#include "core/linux/rdma/rdma_hop.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/random_value.h"
#include "core/linux/rdma/verbs_flush.h"
#include "core/linux/rdma/verbs_memory.h"
#include "core/linux/tcp/data_socket.h"

namespace cableway::host {
namespace {

// Landed data may be read before the notice that follows its writes (NCCL's LL protocols embed flags in the data), so
// the writes must arrive in order: no relaxed ordering for any memory.
VerbsRights rights_of(MemoryAccess access) {
  return {.remote_write = access.lands, .remote_read = access.flushes};
}

// The upstream end of a hop dials, the downstream end accepts.
RdmaChunkLink::Place place_of(const RdmaHalf& half, const HopLinkOptions& options) {
  const bool accepted = options.place == HopPlace::kDestination || options.place == HopPlace::kRelayUpstream;
  return {.last_hop = options.last_hop, .accepted = accepted, .device = half.device_number};
}

}  // namespace

RdmaHop::RdmaHop(UniqueFd socket, RdmaHalf half, const HopLinkOptions& options)
    : RdmaHop(std::make_unique<TcpLifeline>(std::move(socket)), std::move(half), options) {}

RdmaHop::RdmaHop(std::unique_ptr<TcpLifeline> lifeline, RdmaHalf half, const HopLinkOptions& options)
    : device_(std::move(half.device)),
      queue_pair_(*half.queue_pair),
      lifeline_(*lifeline),
      link_(std::move(half.queue_pair), half.other, std::move(lifeline), place_of(half, options)) {}

absl::Status RdmaHop::check() {
  if (absl::Status health = queue_pair_.health(); !health.ok()) return health;
  if (absl::Status address = check_address(); !address.ok()) return address;
  return check_silence(socket());
}

// The queue pair keeps working as long as its address is anywhere in the table. Devices replace entries by removing and
// adding them, so a missing address counts only if the next check misses it as well.
absl::Status RdmaHop::check_address() {
  const std::uint64_t changes = device_->gid_changes();
  if (std::exchange(gid_changes_, changes) == changes && !address_missing_) return absl::OkStatus();
  const absl::Status found = device_->find_gid(queue_pair_.gid()).status();
  const bool was_missing = std::exchange(address_missing_, !found.ok());
  return found.ok() || !was_missing ? absl::OkStatus() : absl::UnavailableError(found.message());
}

absl::StatusOr<std::unique_ptr<RegisteredMemory>> RdmaHop::add(void* data, std::size_t bytes,
                                                               MemoryAccess access) const {
  return VerbsMemory::add(device_, data, bytes, rights_of(access));
}

absl::StatusOr<std::unique_ptr<RegisteredMemory>> RdmaHop::add_dmabuf(int fd, std::uint64_t offset, std::size_t bytes,
                                                                      std::uint64_t address,
                                                                      MemoryAccess access) const {
  return VerbsMemory::add_dmabuf(device_, fd, offset, bytes, address, rights_of(access));
}

absl::StatusOr<std::unique_ptr<MemoryFlush>> RdmaHop::make_flush() const {
  absl::StatusOr<std::unique_ptr<VerbsFlush>> made =
      VerbsFlush::create(device_, queue_pair_.gid(), random_packet_sequence(), queue_pair_.options());
  if (made.ok()) return std::unique_ptr<MemoryFlush>(*std::move(made));
  return absl::Status(made.status().code(),
                      absl::StrCat("cannot make the device's connection with itself, which flushing GPU memory needs: ",
                                   made.status().message()));
}

UniqueFd RdmaHop::take_socket() {
  link_.fence();
  return lifeline_.take_socket();
}

}  // namespace cableway::host
