// The state of a flow before its first circuit: the paths that it has tried, its first failure, and how long it tries
// again. The flow tries again because a cable may not be trusted yet, or a node may have just started.
#ifndef CABLEWAY_CORE_FLOW_CIRCUITS_OPENING_H_
#define CABLEWAY_CORE_FLOW_CIRCUITS_OPENING_H_

#include <algorithm>
#include <chrono>
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
  // The most that a dial leaves to other paths. A busy host may take seconds to answer.
  static constexpr std::chrono::seconds kLeft{2};

  // `limit`: the time limit for the first circuit. `at_once`: each path is tried only once.
  void begin(Instant now, Duration limit, bool at_once) {
    deadline_ = now + limit;
    tries_again_until_ = at_once ? now : now + std::min<Duration>(limit, kTriesAgain);
    at_once_ = at_once;
  }
  Duration left(Instant now) const { return deadline_ - now; }
  // Whether a dial over another path has to leave time to this one.
  bool may_work(const Path& path) const { return !hung_.contains(path) && !(at_once_ && has_tried(path)); }
  // Begins a dial. Returns its time limit; `has_others`: it leaves kLeft, or half of the time, to other paths.
  std::chrono::milliseconds dial(const Path& path, bool has_others, Instant now) {
    tried_.insert(path);
    had_path_ = true;
    dialed_at_ = now;
    const Duration most = has_others ? std::max<Duration>(left(now) / 2, left(now) - kLeft) : left(now);
    budget_ = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(most), std::chrono::milliseconds{1});
    return budget_;
  }
  void dial_failed(const Path& path, const absl::Status& reason, Instant now) {
    failed(reason);
    // A relay answers after nine tenths of the time if the rest of the path hangs.
    if (now - dialed_at_ < budget_ / 2) return;
    hung_.insert(path);
    // Paths that refuse at once would have been tried again meanwhile, and may accept soon.
    if (!at_once_) wait_for_return();
  }
  // Only the first reason is kept.
  void failed(const absl::Status& reason) {
    if (first_failure_.ok()) first_failure_ = reason;
  }
  const absl::Status& first_failure() const { return first_failure_; }

  bool has_had_path() const { return had_path_; }
  bool has_tried(const Path& path) const { return tried_.contains(path); }
  // Tries again until the limit for the first circuit: a port or a node that has failed may be back by then.
  void wait_for_return() { tries_again_until_ = deadline_; }
  // A node on the path has no room now. It may have some again before the limit.
  void wait_for_room() {
    if (!at_once_) wait_for_return();
  }
  // Call when all paths have been tried, or there is none. False: the flow has failed.
  bool try_all_again(Instant now) {
    tried_.clear();
    return now < tries_again_until_;
  }

 private:
  Instant deadline_;
  Instant tries_again_until_;
  bool at_once_ = false;
  std::set<Path> tried_;
  std::set<Path> hung_;  // dials over them have used half of their time or more
  bool had_path_ = false;
  Instant dialed_at_;
  std::chrono::milliseconds budget_{0};
  absl::Status first_failure_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUITS_OPENING_H_
