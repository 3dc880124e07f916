// A bounded number of slots beyond the floors, leased to busy circuits. Every circuit owns its floor (relay_circuit.h),
// so an empty pool makes circuits slower but blocks none.
//
// Leases and returns in constant time; allocates nothing after construction. One thread, except for functions marked
// "any thread".
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
  // `max_per_circuit`: the maximum number of leases of one circuit.
  SlotPool(std::vector<std::unique_ptr<Slot>> slots, std::size_t max_per_circuit);
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;

  // Returns an empty slot. Null: all are leased.
  Slot* lease();
  // Requires a slot leased here that is no longer read or written. Discards its contents.
  void give_back(Slot& slot);

  // A circuit without a lease needs a slot, but none is free. It counts as waiting until end_waiting().
  void begin_waiting();
  void end_waiting() { --waiting_; }
  bool anyone_waits() const { return waiting_ > 0; }
  // A circuit begins to return `slots` slots. The return ends when the slots are back, the circuit ends, or the pool
  // no longer counts on the return.
  void begin_returning(std::size_t slots) { returning_ += slots; }
  void end_returning(std::size_t slots) { returning_ -= slots; }
  // Whether more circuits wait than slots are being returned. If so, a circuit that has held leases for long must
  // return them.
  bool wanted() const { return waiting_ > returning_; }

  // Any thread.
  std::size_t size() const { return slots_.size(); }
  std::size_t max_per_circuit() const { return max_per_circuit_; }
  std::size_t leased() const { return leased_.load(std::memory_order_relaxed); }
  std::size_t max_leased() const { return max_leased_.load(std::memory_order_relaxed); }  // so far
  std::uint64_t waits() const { return waits_.load(std::memory_order_relaxed); }          // so far

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
