// Virtual time that advances on request only: runs events at their times, in a fixed order, as fast as the host can.
#ifndef CABLEWAY_SIM_VIRTUAL_CLOCK_H_
#define CABLEWAY_SIM_VIRTUAL_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/clock.h"

namespace cableway::sim {

// An event that can be scheduled without allocation.
class Occurrence {
 public:
  Occurrence() = default;
  Occurrence(const Occurrence&) = delete;
  Occurrence& operator=(const Occurrence&) = delete;
  virtual ~Occurrence() = default;

  // `argument` is that of schedule(); an owner of several kinds of events distinguishes them by it.
  virtual void occur(std::uint64_t argument) = 0;
};

// One clock serves all nodes of a world. It must outlive its timers.
//
// A binary heap by (time, order of scheduling). A dropped timer stays in the heap, empty, until its time comes or until
// half of the heap is empty.
class VirtualClock final : public Clock {
 public:
  VirtualClock() = default;
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;
  ~VirtualClock() override;

  Instant now() const override { return now_; }
  // The same, for a relay (core/relay/relay_circuit.h). It follows the time.
  const Instant& present() const { return now_; }
  std::unique_ptr<Timer> call_at(Instant when, std::function<void()> work) override;

  // Like call_at(), for calls that are never cancelled.
  void post_at(Instant when, std::function<void()> work);
  // Like post_at(). `what` has to exist until it has occurred, or until the clock no longer runs.
  void schedule(Instant when, Occurrence& what, std::uint64_t argument = 0);

  // Runs everything up to and including `until`; now() is `until` afterwards.
  void run_until(Instant until);
  void run_for(Duration time) { run_until(now_ + time); }
  // Runs until `done`, which is checked after every instant with an event. False: it did not hold within `limit`.
  bool run_until_true(const std::function<bool()>& done, Duration limit);

  // The number of events so far.
  std::uint64_t calls() const { return calls_; }
  // No events are left.
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
  std::size_t dropped_ = 0;  // cancelled calls that are still in the heap
  std::vector<Place> heap_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_VIRTUAL_CLOCK_H_
