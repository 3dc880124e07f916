// Bounds the part of a core that a computation takes (the idea: OSPF's throttling of its shortest-path computation, RFC
// 8405; here by what computations cost, not by a schedule).
#ifndef CABLEWAY_CORE_PACED_WORK_H_
#define CABLEWAY_CORE_PACED_WORK_H_

#include <algorithm>

#include "core/clock.h"

namespace cableway {

// A leaky bucket: computations may take one `part`-th of the time, and `burst` beyond that at once, so that a single
// one that the kernel interrupts does not delay the next. In virtual time computations take no time. It decides nothing
// by itself: the caller asks when the next one is due. One thread.
//
//   if (clock.now() < pace.due()) return;  // a timer at pace.due() tries again
//   const PacedWork::Run run(pace, clock);
//   compute();
class PacedWork {
 public:
  struct Limits {
    int part = 1;
    Duration burst{0};
    Duration shortest{0};  // the pause after each computation, also if all that it took was allowed
    Duration longest{0};   // more than that no computation waits
  };

  // One computation, from here to the end of the scope. A part of it may be a Run, too.
  class Run {
   public:
    Run(PacedWork& pace, const Clock& clock) : pace_(pace), clock_(clock), begin_(clock.now()) { ++pace_.running_; }
    ~Run() {
      if (--pace_.running_ == 0) pace_.took(begin_, clock_.now());
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    PacedWork& pace_;
    const Clock& clock_;
    Instant begin_;
  };

  explicit PacedWork(const Limits& limits) : limits_(limits) {}

  // When the next computation may begin; the past: at once.
  Instant due() const { return due_; }

 private:
  void took(Instant begin, Instant end) {
    const Duration most = limits_.burst + limits_.longest / limits_.part;
    const Duration left = std::max(Duration(0), taken_ - (begin - last_) / limits_.part);
    taken_ = std::min(left + (end - begin), most);
    last_ = end;
    due_ = end + std::clamp((taken_ - limits_.burst) * limits_.part, limits_.shortest, limits_.longest);
  }

  Limits limits_;
  int running_ = 0;
  Duration taken_{0};  // as of last_, less what was allowed since
  Instant last_;
  Instant due_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PACED_WORK_H_
