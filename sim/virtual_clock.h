// Time that passes only when it is told to: everything happens at its own moment, in one order, as fast as the host
// can.
#ifndef CABLEWAY_SIM_VIRTUAL_CLOCK_H_
#define CABLEWAY_SIM_VIRTUAL_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/clock.h"

namespace cableway::sim {

// What can be scheduled without allocating anything.
class Occurrence {
 public:
  Occurrence() = default;
  Occurrence(const Occurrence&) = delete;
  Occurrence& operator=(const Occurrence&) = delete;
  virtual ~Occurrence() = default;

  // `argument` is what schedule() was given: an owner of several occurrences tells them apart by it.
  virtual void occur(std::uint64_t argument) = 0;
};

// One clock serves all nodes of a world. Timers that are left when it goes must not be dropped after it.
//
// A binary heap by (moment, order of asking). A timer that was dropped stays in the heap, empty, until its moment comes
// or until half of the heap is such.
class VirtualClock final : public Clock {
 public:
  VirtualClock() = default;
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;
  ~VirtualClock() override;

  Instant now() const override { return now_; }
  std::unique_ptr<Timer> call_at(Instant when, std::function<void()> work) override;

  // As call_at(), for what nobody will want to stop.
  void post_at(Instant when, std::function<void()> work);
  // As post_at(). `what` is there until it has happened, or until the clock does not run any more.
  void schedule(Instant when, Occurrence& what, std::uint64_t argument = 0);

  // Runs everything up to and including `until`, which is now() afterwards.
  void run_until(Instant until);
  void run_for(Duration time) { run_until(now_ + time); }
  // Runs until `done`, which is asked after every moment in which something happened. False: it was not within `limit`.
  bool run_until_true(const std::function<bool()>& done, Duration limit);

  // What has happened so far.
  std::uint64_t calls() const { return calls_; }
  // Nothing will ever happen.
  bool idle() const { return dropped_ == heap_.size(); }

 private:
  class Call;
  class Handle;
  struct Place {
    Instant when;
    std::uint64_t order = 0;
    Occurrence* what = nullptr;
    std::uint64_t argument = 0;
  };

  static bool is_later(const Place& left, const Place& right);
  static Call* call_in(const Place& place);
  void push(Instant when, Occurrence& what, std::uint64_t argument, bool is_call);
  Call& add_call(Instant when, std::function<void()> work);
  bool run_next(Instant until);
  void note_dropped();

  Instant now_;
  std::uint64_t next_ = 0;
  std::uint64_t calls_ = 0;
  std::size_t dropped_ = 0;  // calls in the heap that nobody wants any more
  std::vector<Place> heap_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_VIRTUAL_CLOCK_H_
