// The slots above the floor: a bounded number of them, leased to the circuits that are busy. Every circuit owns one
// slot for life (relay_circuit.h), so an empty pool makes circuits slower and stops none.
//
// Takes and gives in constant time, allocates nothing after construction. One thread, but for what says "any thread".
#ifndef CABLEWAY_CORE_RELAY_SLOT_POOL_H_
#define CABLEWAY_CORE_RELAY_SLOT_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/flow/chunk_link.h"

namespace cableway {

class SlotPool {
 public:
  // `max_per_circuit`: how many one circuit may lease at a time.
  SlotPool(std::vector<std::unique_ptr<Slot>> slots, std::size_t max_per_circuit);
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;

  // Empty of any chunk. Null: all are leased.
  Slot* lease();
  // `slot` was leased here, and nobody reads or writes it any more. What it may still hold is forgotten.
  void give_back(Slot& slot);

  // A circuit that holds nothing of this pool wants a slot and found none, until it says that it does not any more, or
  // has one.
  void begin_waiting();
  void end_waiting() { --waiting_; }
  bool anyone_waits() const { return waiting_ > 0; }
  // A circuit has begun to give back `slots` slots; it has done so, or has ended, or they are not counted on any more.
  void begin_returning(std::size_t slots) { returning_ += slots; }
  void end_returning(std::size_t slots) { returning_ -= slots; }
  // Whether more circuits wait than slots are on their way back: one that has held some for long is to return them.
  bool wanted() const { return waiting_ > returning_; }

  // Any thread.
  std::size_t size() const { return slots_.size(); }
  std::size_t max_per_circuit() const { return max_per_circuit_; }
  std::size_t leased() const { return leased_.load(std::memory_order_relaxed); }
  std::size_t max_leased() const { return max_leased_.load(std::memory_order_relaxed); }  // at a time, so far
  std::uint64_t waits() const { return waits_.load(std::memory_order_relaxed); }          // begun, so far

 private:
  const std::vector<std::unique_ptr<Slot>> slots_;
  const std::size_t max_per_circuit_;
  std::vector<Slot*> free_;
  std::size_t waiting_ = 0;
  std::size_t returning_ = 0;
  std::atomic<std::size_t> leased_ = 0;
  std::atomic<std::size_t> max_leased_ = 0;
  std::atomic<std::uint64_t> waits_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_RELAY_SLOT_POOL_H_
