#include "sim/prediction/job_run.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/prediction/settled_numbers.h"

namespace cableway::sim {

absl::StatusOr<std::unique_ptr<JobRun>> JobRun::create(CircuitWorld& world, VirtualClock& clock, PathChooser& paths,
                                                       std::vector<JobGroup> groups, const std::vector<CableCut>& cuts,
                                                       bool settled) {
  std::unique_ptr<JobRun> job(new JobRun(world, clock, paths));
  for (JobGroup& group : groups) {
    job->add(std::make_unique<CollectiveRun>(world, paths, group.nodes, std::move(group.schedules), group.facts),
             group.after);
  }
  if (settled) job->settle();
  for (const Group& group : job->groups_) {
    if (absl::Status status = group.run->open(); !status.ok()) return status;
  }
  for (const CableCut& cut : cuts) job->cuts_.push_back({cut, world.wire_of(cut.cable), false, {}});
  return job;
}

void JobRun::settle() {
  std::vector<FlowDemand> demands;
  for (const Group& group : groups_) {
    const std::vector<FlowDemand> of_group = group.run->demands();
    demands.insert(demands.end(), of_group.begin(), of_group.end());
  }
  const std::vector<std::uint64_t> numbers = settled_numbers(world_.topology(), paths_, demands);
  for (std::size_t i = 0; i < demands.size(); ++i) {
    paths_.add_number(demands[i].source, demands[i].destination, numbers[i]);
  }
}

void JobRun::add(std::unique_ptr<CollectiveRun> run, const std::vector<std::size_t>& after) {
  const std::size_t place = groups_.size();
  run->when_ended([this, place] { note_ended(place); });
  messages_ += run->messages();
  for (const std::size_t earlier : after) groups_[earlier].followers.push_back(place);
  groups_.push_back(Group{std::move(run), Instant{}, after.size(), {}});
  ++unfinished_;
}

void JobRun::start() {
  std::set<Duration> moments;
  for (const CutEffect& effect : cuts_) moments.insert(effect.cut.when);
  for (const Duration when : moments) clock_.post_at(clock_.now() + when, [this, when] { cut_at(when); });
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group].waits_for == 0) start_soon(group);
  }
}

// Deferred, because the caller is in the middle of moving a link.
void JobRun::start_soon(std::size_t group) {
  clock_.post_at(clock_.now(), [this, group] {
    groups_[group].started = clock_.now();
    groups_[group].run->start();
  });
}

void JobRun::note_ended(std::size_t group) {
  const absl::Status& status = groups_[group].run->status();
  if (!status.ok()) {
    if (status_.ok()) status_ = status;
    return;
  }
  --unfinished_;
  for (const std::size_t follower : groups_[group].followers) {
    if (--groups_[follower].waits_for == 0) start_soon(follower);
  }
}

// The effect of each cut is determined before the first flow notices.
void JobRun::cut_at(Duration when) {
  if (ended()) return;
  std::vector<routing::CableIndex> cables;
  std::set<routing::CableIndex> gone;
  for (CutEffect& effect : cuts_) {
    if (effect.cut.when <= when) gone.insert(effect.wire.begin(), effect.wire.end());
    if (effect.cut.when != when) continue;
    effect.happened = true;
    cables.push_back(effect.cut.cable);
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      for (RankFlow& flow : groups_[group].run->unfinished_flows_over(effect.wire)) {
        if (!is_hit_before(group, flow, when)) effect.hit.push_back({group, std::move(flow)});
      }
    }
  }
  paths_.set_gone({gone.begin(), gone.end()});
  world_.cut(cables);
}

// Whether an earlier cut hit the flow, even if the flow's source has not noticed yet.
bool JobRun::is_hit_before(std::size_t group, const RankFlow& flow, Duration when) const {
  return std::any_of(cuts_.begin(), cuts_.end(), [&](const CutEffect& earlier) {
    return earlier.happened && earlier.cut.when < when &&
           std::any_of(earlier.hit.begin(), earlier.hit.end(),
                       [&](const CutEffect::HitFlow& hit) { return hit.group == group && hit.flow == flow; });
  });
}

std::vector<CutEffect> JobRun::cuts() const {
  std::vector<CutEffect> effects = cuts_;
  for (CutEffect& effect : effects) {
    for (CutEffect::HitFlow& hit : effect.hit) {
      const std::vector<FlowReroute>& reroutes = groups_[hit.group].run->reroutes();
      const auto found = std::find_if(reroutes.begin(), reroutes.end(),
                                      [&](const FlowReroute& reroute) { return reroute.flow == hit.flow; });
      if (found != reroutes.end()) hit.reroute = *found;
    }
  }
  return effects;
}

std::uint64_t JobRun::bytes_again() const {
  std::uint64_t sum = 0;
  for (const Group& group : groups_) sum += group.run->bytes_again();
  return sum;
}

JobRun::GroupTimes JobRun::times(std::size_t group) const {
  return {groups_[group].started, groups_[group].run->completions()};
}

std::size_t JobRun::flows() const {
  std::size_t sum = 0;
  for (const Group& group : groups_) sum += group.run->flows();
  return sum;
}

std::size_t JobRun::circuits() const {
  std::size_t sum = 0;
  for (const Group& group : groups_) sum += group.run->circuits();
  return sum;
}

double JobRun::share_done() const {
  std::uint64_t done = 0;
  for (const Group& group : groups_) done += group.run->messages_done();
  return messages_ == 0 ? 1 : static_cast<double>(done) / static_cast<double>(messages_);
}

}  // namespace cableway::sim
