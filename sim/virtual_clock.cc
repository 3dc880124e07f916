#include "sim/virtual_clock.h"

#include <algorithm>
#include <utility>

namespace cableway::sim {
namespace {

// Below this number the heap is not swept for dropped calls.
constexpr std::size_t kMinSwept = 256;

}  // namespace

// A function owned by the heap.
class VirtualClock::Call final : public Occurrence {
 public:
  explicit Call(std::function<void()> work) : work_(std::move(work)) {}
  ~Call() override;

  // Called after its removal from the heap, and freed before its work runs, which may drop its timer.
  void occur(std::uint64_t) override;
  // Releases the function's captures at once.
  void drop() {
    handle_ = nullptr;
    work_ = nullptr;
    dropped_ = true;
  }
  bool dropped() const { return dropped_; }
  void set_handle(Handle* handle) { handle_ = handle; }

 private:
  std::function<void()> work_;
  Handle* handle_ = nullptr;
  bool dropped_ = false;
};

class VirtualClock::Handle final : public Timer {
 public:
  Handle(VirtualClock& clock, Call& call) : clock_(clock), call_(&call) { call.set_handle(this); }
  ~Handle() override {
    if (call_ == nullptr) return;
    call_->drop();
    clock_.note_dropped();
  }
  void forget_call() { call_ = nullptr; }

 private:
  VirtualClock& clock_;
  Call* call_;
};

VirtualClock::Call::~Call() {
  if (handle_ != nullptr) handle_->forget_call();
}

void VirtualClock::Call::occur(std::uint64_t) {
  const std::function<void()> work = std::move(work_);
  delete this;
  work();
}

VirtualClock::~VirtualClock() {
  const std::vector<Place> left = std::move(heap_);
  for (const Place& place : left) delete call_in(place);
}

bool VirtualClock::is_later(const Place& left, const Place& right) {
  return left.when != right.when ? left.when > right.when : left.order > right.order;
}

// The lowest bit of the order is set if the heap owns the occurrence. If not, it must not be accessed: it may have
// been destroyed.
VirtualClock::Call* VirtualClock::call_in(const Place& place) {
  return (place.order & 1) != 0 ? static_cast<Call*>(place.what) : nullptr;
}

void VirtualClock::push(Instant when, Occurrence& what, std::uint64_t argument, bool is_call) {
  heap_.push_back(Place{std::max(when, now_), 2 * next_++ + (is_call ? 1 : 0), &what, argument});
  std::push_heap(heap_.begin(), heap_.end(), is_later);
}

void VirtualClock::schedule(Instant when, Occurrence& what, std::uint64_t argument) {
  push(when, what, argument, false);
}

VirtualClock::Call& VirtualClock::add_call(Instant when, std::function<void()> work) {
  auto call = std::make_unique<Call>(std::move(work));
  push(when, *call, 0, true);
  return *call.release();
}

std::unique_ptr<Timer> VirtualClock::call_at(Instant when, std::function<void()> work) {
  return std::make_unique<Handle>(*this, add_call(when, std::move(work)));
}

void VirtualClock::post_at(Instant when, std::function<void()> work) {
  add_call(when, std::move(work));
}

void VirtualClock::note_dropped() {
  ++dropped_;
  if (dropped_ < kMinSwept || dropped_ <= heap_.size() / 2) return;
  std::erase_if(heap_, [](const Place& place) {
    const Call* call = call_in(place);
    if (call == nullptr || !call->dropped()) return false;
    delete call;
    return true;
  });
  std::make_heap(heap_.begin(), heap_.end(), is_later);
  dropped_ = 0;
}

bool VirtualClock::run_next(Instant until) {
  while (!heap_.empty() && heap_.front().when <= until) {
    const Place next = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), is_later);
    heap_.pop_back();
    const Call* const call = call_in(next);
    if (call != nullptr && call->dropped()) {
      --dropped_;
      delete call;
      continue;
    }
    now_ = next.when;
    ++calls_;
    next.what->occur(next.argument);
    return true;
  }
  return false;
}

void VirtualClock::run_until(Instant until) {
  while (run_next(until)) {
  }
  now_ = std::max(now_, until);
}

bool VirtualClock::run_until_true(const std::function<bool()>& done, Duration limit) {
  const Instant end = now_ + limit;
  while (!done()) {
    if (!run_next(end)) {
      now_ = end;
      return done();
    }
    // Runs the other events of the same instant.
    run_until(now_);
  }
  return true;
}

}  // namespace cableway::sim
