#include "core/relay/slot_pool.h"

#include <utility>

namespace cableway {

SlotPool::SlotPool(std::vector<std::unique_ptr<Slot>> slots, std::size_t max_per_circuit)
    : slots_(std::move(slots)), max_per_circuit_(max_per_circuit) {
  free_.reserve(slots_.size());
  for (const std::unique_ptr<Slot>& slot : slots_) free_.push_back(slot.get());
}

Slot* SlotPool::lease() {
  if (free_.empty()) return nullptr;
  Slot* slot = free_.back();
  free_.pop_back();
  const std::size_t leased = slots_.size() - free_.size();
  leased_.store(leased, std::memory_order_relaxed);
  if (leased > max_leased()) max_leased_.store(leased, std::memory_order_relaxed);
  return slot;
}

void SlotPool::give_back(Slot& slot) {
  slot.clear();
  free_.push_back(&slot);
  leased_.store(slots_.size() - free_.size(), std::memory_order_relaxed);
}

void SlotPool::begin_waiting() {
  ++waiting_;
  waits_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace cableway
