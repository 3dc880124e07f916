#include "core/linux/tcp/pipe_store.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/event/event_code.h"
#include "core/linux/tcp/pipe_slot.h"

namespace cableway::host {

absl::StatusOr<std::unique_ptr<PipeStore>> PipeStore::create(const RelayMemory& memory) {
  auto leases = make_pipe_slots(memory.leases, kWidePipeBytes);
  if (!leases.ok()) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot create the ", memory.leases,
                                                     " slots of the relay memory: ", leases.status().message(),
                                                     "; lower CABLEWAY_RELAY_MEMORY"));
  }
  return std::unique_ptr<PipeStore>(new PipeStore(memory, *std::move(leases)));
}

absl::StatusOr<std::unique_ptr<Slot>> PipeStore::make_floor(const HostEnd& /*upstream*/,
                                                            const HostEnd& /*downstream*/) {
  absl::StatusOr<std::unique_ptr<PipeSlot>> floor = PipeSlot::create(kFloorPipeBytes);
  if (!floor.ok()) return absl::ResourceExhaustedError(floor.status().message());
  const int bytes = (*floor)->capacity();
  if (bytes < static_cast<int>(kFloorPipeBytes) && small_pipe_) std::exchange(small_pipe_, nullptr)(bytes);
  return std::unique_ptr<Slot>(*std::move(floor));
}

RelayMemoryStatus PipeStore::status(std::size_t circuits) const {
  return {.bytes = memory_.bytes,
          .max_circuits = memory_.max_circuits,
          .floors = circuits * floor_memory(),
          .leases = pool_.size(),
          .leased = pool_.leased(),
          .max_leased = pool_.max_leased(),
          .leased_bytes = pool_.leased() * lease_memory(),
          .waits = pool_.waits()};
}

LeaseShortage PipeStore::lease_shortage(const std::string& relay_memory) const {
  return {EventCode::kLeasesExhausted,
          absl::StrCat("all ", pool_.size(), " leases of the relay memory of ", relay_memory,
                       " are in use: busy circuits take turns and are slower; raise CABLEWAY_RELAY_MEMORY")};
}

absl::StatusOr<std::unique_ptr<RelayStore>> make_pipe_store(const Settings& settings, EventSink& events) {
  absl::StatusOr<std::unique_ptr<PipeStore>> store = PipeStore::create(share_out_relay_memory(settings.relay_memory));
  if (!store.ok()) return store.status();
  (*store)->on_small_pipe([&events](int bytes) {
    events.raise(EventCode::kPipesSmall,
                 absl::StrCat("pipes are limited to ", bytes,
                              " bytes: this user's pipes have reached fs.pipe-user-pages-soft, and"
                              " further circuits are relayed slower; run cablewayd as root, or raise that limit"),
                 {{"bytes", absl::StrCat(bytes)}});
  });
  return std::unique_ptr<RelayStore>(*std::move(store));
}

}  // namespace cableway::host
