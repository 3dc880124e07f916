#include "core/linux/relay/rdma_relay_memory.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/event/event_code.h"

namespace cableway::host {
namespace {

constexpr std::uint64_t kShareOfRelayMemory = 64;

// The neighbour's writes to slots may be reordered: a slot is not read before the notice that follows.
constexpr VerbsRights kForUpstream{.remote_write = true, .relaxed_ordering = true};

// A circuit's own slot, with pages and keys of its own.
struct FloorMemory {
  MappedPages pages;
  std::array<RdmaKeys, RdmaRelayMemory::kMaxDevices> keys{};
  std::array<std::unique_ptr<VerbsMemory>, 2> registered;
};

class FloorSlot final : public RegisteredSlot {
 public:
  // `count`: the number of all such slots.
  FloorSlot(std::unique_ptr<FloorMemory> memory, std::shared_ptr<std::atomic<std::size_t>> count)
      : RegisteredSlot(memory->pages.bytes(), memory->keys), memory_(std::move(memory)), count_(std::move(count)) {
    count_->fetch_add(1, std::memory_order_relaxed);
  }
  ~FloorSlot() override { count_->fetch_sub(1, std::memory_order_relaxed); }

 private:
  const std::unique_ptr<FloorMemory> memory_;
  const std::shared_ptr<std::atomic<std::size_t>> count_;
};

absl::StatusOr<std::unique_ptr<VerbsMemory>> register_floor(const SlotDevice& on, FloorMemory& floor,
                                                            VerbsRights rights) {
  const std::span<std::byte> bytes = floor.pages.bytes();
  auto memory = VerbsMemory::add(on.device, bytes.data(), bytes.size(), rights);
  if (memory.ok()) floor.keys[on.number] = (*memory)->keys();
  return memory;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RdmaRelayMemory>> RdmaRelayMemory::reserve(std::uint64_t relay_memory) {
  const std::uint64_t wanted = relay_memory / kShareOfRelayMemory / kSlotBytes;
  const auto count = static_cast<std::size_t>(std::clamp<std::uint64_t>(wanted, 1, kMaxLeases));
  std::unique_ptr<RdmaRelayMemory> memory(new RdmaRelayMemory);
  absl::StatusOr<MappedPages> pages = MappedPages::create(count * kSlotBytes);
  if (!pages.ok()) return pages.status();
  memory->lease_pages_ = *std::move(pages);
  std::vector<std::unique_ptr<Slot>> slots;
  slots.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = memory->lease_pages_.bytes().subspan(i * kSlotBytes, kSlotBytes);
    slots.push_back(std::make_unique<RegisteredSlot>(at, memory->lease_keys_));
  }
  memory->pool_ = std::make_unique<SlotPool>(std::move(slots), std::min(kLeasesPerCircuit, count));
  return memory;
}

absl::StatusOr<std::unique_ptr<Slot>> RdmaRelayMemory::make_floor(const HostEnd& upstream_end,
                                                                  const HostEnd& downstream_end) {
  const SlotDevice upstream = upstream_end.slot_device();
  const SlotDevice downstream = downstream_end.slot_device();
  auto floor = std::make_unique<FloorMemory>();
  absl::StatusOr<MappedPages> pages = MappedPages::create(kSlotBytes);
  if (!pages.ok()) return pages.status();
  floor->pages = *std::move(pages);
  if (upstream.device != nullptr) {
    if (absl::Status status = allow_lease_writes(upstream); !status.ok()) return status;
    auto memory = register_floor(upstream, *floor, kForUpstream);
    if (!memory.ok()) return memory.status();
    floor->registered[0] = *std::move(memory);
  }
  // If both neighbours are on the segment of one port, one device serves both directions, and the first registration
  // suffices.
  if (downstream.device != nullptr && downstream.device != upstream.device) {
    if (absl::Status status = allow_lease_reads(downstream); !status.ok()) return status;
    auto memory = register_floor(downstream, *floor, {});
    if (!memory.ok()) return memory.status();
    floor->registered[1] = *std::move(memory);
  }
  return std::unique_ptr<Slot>(std::make_unique<FloorSlot>(std::move(floor), floors_));
}

RdmaMemoryStatus RdmaRelayMemory::status() const {
  const std::uint64_t floors = floors_->load(std::memory_order_relaxed) * kSlotBytes;
  const std::uint64_t leases = leases_registered_.load(std::memory_order_relaxed) ? pool_->size() * kSlotBytes : 0;
  return {.registered = floors + leases,
          .floors = floors,
          .leases = pool_->size(),
          .leased = pool_->leased(),
          .max_leased = pool_->max_leased(),
          .leased_bytes = pool_->leased() * kSlotBytes,
          .waits = pool_->waits()};
}

LeaseShortage RdmaRelayMemory::lease_shortage(const std::string& /*relay_memory*/) const {
  return {EventCode::kRdmaLeasesExhausted,
          absl::StrCat("all ", pool_->size(),
                       " leases of registered memory are in use: busy circuits over RDMA take turns and are slower; ",
                       pool_->size() < kMaxLeases ? "raise CABLEWAY_RELAY_MEMORY" : "this is a node's maximum")};
}

// Safe although the relaying thread may still read their keys: nothing on a failed device works.
void RdmaRelayMemory::release_lost() {
  for (Leases& each : leases_) {
    if (each.device != nullptr && each.device->is_lost()) each = Leases();
  }
  const bool any = std::any_of(leases_.begin(), leases_.end(), [](const Leases& each) { return each.any(); });
  leases_registered_.store(any, std::memory_order_relaxed);
}

// The relaying thread reads a key only where a circuit needs it; each is written here before the first such circuit.
absl::Status RdmaRelayMemory::allow_lease_reads(const SlotDevice& downstream) {
  auto memory = register_leases(downstream, {});
  if (!memory.ok() || *memory == nullptr) return memory.status();
  Leases& leases = leases_[downstream.number];
  leases.read = *std::move(memory);
  lease_keys_[downstream.number].local = leases.read->keys().local;
  return absl::OkStatus();
}

absl::Status RdmaRelayMemory::allow_lease_writes(const SlotDevice& upstream) {
  auto memory = register_leases(upstream, kForUpstream);
  if (!memory.ok() || *memory == nullptr) return memory.status();
  Leases& leases = leases_[upstream.number];
  leases.written = *std::move(memory);
  RdmaKeys& keys = lease_keys_[upstream.number];
  keys.remote = leases.written->keys().remote;
  if (leases.read == nullptr) keys.local = leases.written->keys().local;
  return absl::OkStatus();
}

// Null: an existing registration suffices.
absl::StatusOr<std::unique_ptr<VerbsMemory>> RdmaRelayMemory::register_leases(const SlotDevice& on,
                                                                              VerbsRights rights) {
  if (on.number >= kMaxDevices) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", kMaxDevices, " RDMA devices have been opened by this node: restart cablewayd"));
  }
  release_lost();
  Leases& leases = leases_[on.number];
  if (leases.written != nullptr || (leases.read != nullptr && !rights.remote_write)) return nullptr;
  const std::span<std::byte> bytes = lease_pages_.bytes();
  auto memory = VerbsMemory::add(on.device, bytes.data(), bytes.size(), rights);
  if (!memory.ok()) return memory.status();
  leases.device = on.device;
  leases_registered_.store(true, std::memory_order_relaxed);
  return memory;
}

absl::StatusOr<std::unique_ptr<RelayStore>> make_rdma_relay_memory(const Settings& settings, EventSink& /*events*/) {
  return RdmaRelayMemory::reserve(settings.relay_memory);
}

}  // namespace cableway::host
