#include "tools/cableway/expectation/wire_matching.h"

#include <algorithm>
#include <optional>

namespace cableway::cli {
namespace {

struct Step {
  bool is_missing = false;
  std::size_t index = 0;  // of the wire
  std::size_t from = 0;   // jacks
  std::size_t to = 0;
};

// Walks along alternating paths; every wire is taken once.
class AlternatingPaths {
 public:
  AlternatingPaths(std::size_t jacks, const std::vector<JackPair>& missing, const std::vector<JackPair>& extra)
      : missing_{missing, std::vector<Count>(jacks), std::vector<bool>(missing.size(), false)},
        extra_{extra, std::vector<Count>(jacks), std::vector<bool>(extra.size(), false)},
        jacks_(jacks) {
    count(missing_);
    count(extra_);
  }

  WireMatching match() && {
    set_switched_aside();
    // Open paths from their ends; what is left then is closed.
    for (std::size_t jack = 0; jack < jacks_; ++jack) {
      const bool misses = wire_at(missing_, jack).has_value();
      const bool has_extra = wire_at(extra_, jack).has_value();
      if (misses != has_extra) explain_open(walk(jack, misses));
    }
    for (std::size_t jack = 0; jack < jacks_; ++jack) {
      if (wire_at(missing_, jack).has_value()) explain_closed(walk(jack, true));
    }
    std::sort(result_.missing.begin(), result_.missing.end());
    std::sort(result_.extra.begin(), result_.extra.end());
    return std::move(result_);
  }

 private:
  struct Count {
    std::size_t wires = 0;
    std::size_t first = 0;  // index of one of them
  };
  struct Side {
    const std::vector<JackPair>& wires;
    std::vector<Count> at;    // by jack
    std::vector<bool> taken;  // by wire
  };

  static void count(Side& side) {
    for (std::size_t i = 0; i < side.wires.size(); ++i) {
      for (const std::size_t jack : {side.wires[i].first, side.wires[i].second}) {
        if (side.at[jack].wires++ == 0) side.at[jack].first = i;
      }
    }
  }

  bool is_switched(std::size_t jack) const { return missing_.at[jack].wires > 1 || extra_.at[jack].wires > 1; }

  void set_switched_aside() {
    for (Side* side : {&missing_, &extra_}) {
      for (std::size_t i = 0; i < side->wires.size(); ++i) {
        if (!is_switched(side->wires[i].first) && !is_switched(side->wires[i].second)) continue;
        side->taken[i] = true;
        (side == &missing_ ? result_.missing : result_.extra).push_back(i);
      }
    }
  }

  // The wire of that side at the jack, unless it is taken.
  static std::optional<std::size_t> wire_at(const Side& side, std::size_t jack) {
    if (side.at[jack].wires == 0 || side.taken[side.at[jack].first]) return std::nullopt;
    return side.at[jack].first;
  }

  std::vector<Step> walk(std::size_t jack, bool begins_missing) {
    std::vector<Step> steps;
    for (bool is_missing = begins_missing;; is_missing = !is_missing) {
      Side& side = is_missing ? missing_ : extra_;
      const std::optional<std::size_t> wire = wire_at(side, jack);
      if (!wire) return steps;
      side.taken[*wire] = true;
      const JackPair& ends = side.wires[*wire];
      steps.push_back({is_missing, *wire, jack, ends.first == jack ? ends.second : ends.first});
      jack = steps.back().to;
    }
  }

  // A missing wire and the next, extra one share the jack between them, or the other way round.
  void add_move(const Step& first, const Step& second) {
    const Step& missing = first.is_missing ? first : second;
    const Step& extra = first.is_missing ? second : first;
    result_.moves.push_back({.missing = missing.index,
                             .extra = extra.index,
                             .stays = first.to,
                             .is_in = first.is_missing ? second.to : first.from,
                             .goes_to = first.is_missing ? first.from : second.to});
  }

  void explain_open(const std::vector<Step>& steps) {
    std::size_t i = 0;
    for (; i + 1 < steps.size(); i += 2) add_move(steps[i], steps[i + 1]);
    if (i < steps.size()) (steps[i].is_missing ? result_.missing : result_.extra).push_back(steps[i].index);
  }

  void explain_closed(const std::vector<Step>& steps) {
    if (steps.size() != 4) return explain_open(steps);
    result_.exchanges.push_back(
        {.missing = {std::min(steps[0].index, steps[2].index), std::max(steps[0].index, steps[2].index)},
         .extra = {std::min(steps[1].index, steps[3].index), std::max(steps[1].index, steps[3].index)},
         .swaps = {{steps[0].from, steps[2].from}, {steps[1].from, steps[3].from}}});
  }

  Side missing_;
  Side extra_;
  const std::size_t jacks_;
  WireMatching result_;
};

}  // namespace

WireMatching match_wires(std::size_t jacks, const std::vector<JackPair>& missing, const std::vector<JackPair>& extra) {
  return AlternatingPaths(jacks, missing, extra).match();
}

}  // namespace cableway::cli
