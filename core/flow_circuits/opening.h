// The state of a flow before its first circuit: the paths that it has tried, its first failure, and how long it tries
// again. The flow tries again because a cable may not be trusted yet, or a node may have just started.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_OPENING_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_OPENING_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/clock.h"

namespace cableway {

class Opening {
 public:
  using Path = std::vector<std::string>;  // elements_of_path()

  // The time from the flow's start during which it tries all paths again.
  static constexpr std::chrono::seconds kTriesAgain{2};

  // `limit`: the time limit for the first circuit. `at_once`: each path is tried only once.
  void begin(Instant now, Duration limit, bool at_once) {
    deadline_ = now + limit;
    tries_again_until_ = at_once ? now : now + std::min<Duration>(limit, kTriesAgain);
  }
  Duration left(Instant now) const { return deadline_ - now; }
  // Call before a dial. `paths`: the number of offered paths that were not tried, including the one to be dialed.
  void note_untried(std::size_t paths) { untried_ = paths; }
  // The time limit of that dial. A path on which no answer comes leaves half of the time to the others.
  std::chrono::milliseconds budget(Instant now) const {
    const Duration most = untried_ > 1 ? left(now) / 2 : left(now);
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(most), std::chrono::milliseconds{1});
  }
  // Only the first reason is kept.
  void failed(const absl::Status& reason) {
    if (first_failure_.ok()) first_failure_ = reason;
  }
  const absl::Status& first_failure() const { return first_failure_; }

  void note_tried(const Path& path) {
    tried_.insert(path);
    had_path_ = true;
  }
  bool has_had_path() const { return had_path_; }
  bool has_tried(const Path& path) const { return tried_.contains(path); }
  // Extends the time to the limit: the failed part, a port of this node or the node, may be back by then.
  void wait_for_return() { tries_again_until_ = deadline_; }
  // Call when all paths have been tried, or there is none. False: the flow has failed.
  bool try_all_again(Instant now) {
    tried_.clear();
    return now < tries_again_until_;
  }

 private:
  Instant deadline_;
  Instant tries_again_until_;
  std::set<Path> tried_;
  std::size_t untried_ = 0;
  bool had_path_ = false;
  absl::Status first_failure_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_OPENING_H_
