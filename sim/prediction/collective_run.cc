#include "sim/prediction/collective_run.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::sim {
namespace {

using workload::LaneKey;
using workload::ScheduleProgress;

// The address of payload that is only counted: never read or written.
std::byte* counted_bytes() {
  static std::byte nothing{};
  return &nothing;
}

}  // namespace

// One connection: its circuits, and the lanes of the two ranks at its ends.
class CollectiveRun::Flow {
 public:
  // One end of the connection, which wakes its rank's lane.
  class End final : public LinkUser {
   public:
    void attach(Rank& rank, ScheduleProgress::LaneIndex lane) {
      rank_ = &rank;
      lane_ = lane;
    }
    void wake() override;
    bool finished() const;

   private:
    Rank* rank_ = nullptr;
    ScheduleProgress::LaneIndex lane_ = 0;
  };

  FlowSender& sender() { return routed->sender(); }
  FlowReceiver& receiver() { return routed->receiver(); }

  // A circuit has ended, and nothing was sent since.
  struct Loss {
    RankFlow flow;
    std::optional<Instant> since;  // when something to be sent began to wait; nullopt: nothing is to be sent
  };

  void lost(Instant now);
  void posted(Instant now);
  // After progress(): what was sent ends a pause.
  std::vector<FlowReroute> went_on(Instant now);

  End source;
  End destination;
  RankFlow facts;  // with the newest circuit
  RoutedFlow* routed = nullptr;
  bool is_lost = false;      // its source has noticed that its circuit has ended, and there is no other yet
  bool has_no_path = false;  // none is left

 private:
  std::uint64_t chunks_ = 0;  // that were sent
  Instant last_sent_;
  std::vector<Loss> losses_;
};

class CollectiveRun::Rank {
 public:
  Rank(CollectiveRun& run, workload::Schedule schedule) : run_(run), progress_(run.facts_.in_flight) {
    progress_.prepare(std::move(schedule));
    flows_.resize(progress_.lanes());
  }

  const ScheduleProgress& progress() const { return progress_; }
  void attach(ScheduleProgress::LaneIndex lane, Flow& flow) { flows_[lane] = &flow; }

  void start() {
    progress_.start(run_.facts_.operations);
    compute();
    move();
  }
  void wake(ScheduleProgress::LaneIndex lane);
  bool finished(ScheduleProgress::LaneIndex lane) const {
    return progress_.operations() > 0 && progress_.completed_count(lane) == progress_.messages(lane);
  }

 private:
  void move();
  void move_lane(ScheduleProgress::LaneIndex lane);
  void complete(ScheduleProgress::LaneIndex lane);
  void post(ScheduleProgress::LaneIndex lane);
  void compute();
  bool advance();

  CollectiveRun& run_;
  ScheduleProgress progress_;
  std::vector<Flow*> flows_;  // by lane
};

void CollectiveRun::Flow::lost(Instant now) {
  is_lost = true;
  losses_.push_back({facts, std::nullopt});
  if (!sender().idle()) losses_.back().since = sender().in_flight() && losses_.size() == 1 ? last_sent_ : now;
}

void CollectiveRun::Flow::posted(Instant now) {
  if (!is_lost) return;
  for (Loss& loss : losses_) loss.since = loss.since.value_or(now);
}

std::vector<FlowReroute> CollectiveRun::Flow::went_on(Instant now) {
  std::vector<FlowReroute> reroutes;
  const std::uint64_t chunks = sender().traffic().chunks();
  if (chunks == chunks_) return reroutes;
  chunks_ = chunks;
  last_sent_ = now;
  if (sender().live() == 0) return reroutes;  // over the circuit that ended
  for (const Loss& loss : std::exchange(losses_, {})) {
    reroutes.push_back({loss.flow, facts.path, now, now - loss.since.value_or(now)});
  }
  return reroutes;
}

void CollectiveRun::Flow::End::wake() {
  rank_->wake(lane_);
}

bool CollectiveRun::Flow::End::finished() const {
  return rank_->finished(lane_);
}

void CollectiveRun::Rank::wake(ScheduleProgress::LaneIndex lane) {
  move_lane(lane);
  move();
}

// Any completion on one lane may allow posts on others.
void CollectiveRun::Rank::move() {
  do {
    while (const auto lane = progress_.take_ready_lane()) move_lane(*lane);
  } while (run_.status_.ok() && advance());
}

void CollectiveRun::Rank::move_lane(ScheduleProgress::LaneIndex lane) {
  if (!run_.status_.ok()) return;
  Flow& flow = *flows_[lane];
  const bool sending = progress_.key(lane).sending;
  if (absl::Status status = sending ? flow.sender().progress() : flow.receiver().progress(); !status.ok()) {
    return run_.fail(std::move(status));
  }
  if (sending) run_.note_sent(flow);
  if (progress_.operations() == 0) return;  // not started
  complete(lane);
  post(lane);
}

void CollectiveRun::Rank::complete(ScheduleProgress::LaneIndex lane) {
  Flow& flow = *flows_[lane];
  const bool sending = progress_.key(lane).sending;
  while (progress_.completed_count(lane) < progress_.posted_count(lane)) {
    const std::uint64_t message = progress_.completed_count(lane);
    if (sending ? !flow.sender().done(message) : !flow.receiver().done(message)) return;
    progress_.completed(lane);
    ++run_.messages_done_;
    compute();
  }
}

void CollectiveRun::Rank::post(ScheduleProgress::LaneIndex lane) {
  Flow& flow = *flows_[lane];
  while (const auto due = progress_.due(lane)) {
    const workload::Step& step = progress_.step(*due);
    const absl::StatusOr<std::uint64_t> message =
        progress_.key(lane).sending ? flow.sender().post(SendBuffer{counted_bytes(), 0}, step.bytes)
                                    : flow.receiver().post(Landing{counted_bytes(), step.capacity, 0});
    if (!message.ok()) return run_.fail(message.status());
    progress_.posted(lane);
    if (!progress_.key(lane).sending) continue;
    flow.posted(run_.world_.now());
    if (flow.has_no_path) return run_.fail_without_path(flow);
  }
}

void CollectiveRun::Rank::compute() {
  for (;;) {
    auto due = progress_.take_add();
    if (!due.has_value()) due = progress_.take_copy();
    if (!due.has_value()) return;
    progress_.computed(*due);
  }
}

bool CollectiveRun::Rank::advance() {
  const std::uint64_t before = progress_.finished();
  const bool moved = progress_.advance().moved;
  if (progress_.finished() != before) run_.note_finished(before);
  compute();
  return moved;
}

CollectiveRun::CollectiveRun(CircuitWorld& world, PathChooser& paths, const CollectiveFacts& facts)
    : world_(world), paths_(paths), facts_(facts) {}

CollectiveRun::~CollectiveRun() = default;

absl::StatusOr<std::unique_ptr<CollectiveRun>> CollectiveRun::create(CircuitWorld& world, PathChooser& paths,
                                                                     const std::vector<routing::NodeIndex>& nodes,
                                                                     std::vector<workload::Schedule> schedules,
                                                                     const CollectiveFacts& facts) {
  std::unique_ptr<CollectiveRun> run(new CollectiveRun(world, paths, facts));
  for (workload::Schedule& schedule : schedules) {
    run->ranks_.push_back(std::make_unique<Rank>(*run, std::move(schedule)));
  }
  if (absl::Status status = run->connect(nodes); !status.ok()) return status;
  run->unfinished_ = run->ranks_.size();
  run->unfinished_ranks_.assign(facts.operations, run->ranks_.size());
  return run;
}

absl::Status CollectiveRun::connect(const std::vector<routing::NodeIndex>& nodes) {
  // The receiving lane of each connection, by (receiver, sender, channel).
  std::map<std::tuple<int, int, int>, ScheduleProgress::LaneIndex> receiving;
  for_each_lane([&](int rank, ScheduleProgress::LaneIndex lane, const LaneKey& key) {
    if (!key.sending) receiving[{rank, key.peer, key.channel}] = lane;
  });
  absl::Status status;
  for_each_lane([&](int rank, ScheduleProgress::LaneIndex lane, const LaneKey& key) {
    if (!key.sending || !status.ok()) return;
    const routing::NodeIndex from = nodes[static_cast<std::size_t>(rank)];
    const routing::NodeIndex to = nodes[static_cast<std::size_t>(key.peer)];
    const routing::Path path = paths_.next(from, to);
    if (!path.exists()) {
      const auto name = [&](routing::NodeIndex node) { return world_.topology().node(node).name; };
      status = absl::UnavailableError(absl::StrCat("rank ", rank, " on node ", name(from), " cannot reach rank ",
                                                   key.peer, " on node ", name(to), ": no path of cables joins them"));
      return;
    }
    add_flow(path, *ranks_[static_cast<std::size_t>(rank)], lane, *ranks_[static_cast<std::size_t>(key.peer)],
             receiving.at({key.peer, rank, key.channel}));
  });
  return status;
}

void CollectiveRun::for_each_lane(const LaneVisitor& visit) const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const ScheduleProgress& progress = ranks_[rank]->progress();
    for (ScheduleProgress::LaneIndex lane = 0; lane < progress.lanes(); ++lane) {
      visit(static_cast<int>(rank), lane, progress.key(lane));
    }
  }
}

void CollectiveRun::add_flow(const routing::Path& path, Rank& sender, ScheduleProgress::LaneIndex sending_lane,
                             Rank& receiver, ScheduleProgress::LaneIndex receiving_lane) {
  flows_.push_back(std::make_unique<Flow>());
  Flow& flow = *flows_.back();
  const LaneKey& receiving = receiver.progress().key(receiving_lane);
  flow.facts = {receiving.peer, sender.progress().key(sending_lane).peer, receiving.channel, path, 0};
  flow.source.attach(sender, sending_lane);
  flow.destination.attach(receiver, receiving_lane);
  sender.attach(sending_lane, flow);
  receiver.attach(receiving_lane, flow);
  flow.routed = &world_.open(path, flow.source, flow.destination);
}

// After its sender has moved.
void CollectiveRun::note_sent(Flow& flow) {
  for (FlowReroute& reroute : flow.went_on(world_.now())) reroutes_.push_back(std::move(reroute));
  if (flow.sender().live() > 0 || flow.is_lost) return;
  flow.lost(world_.now());
  world_.after(facts_.set_up, [this, &flow] { set_up_another(flow); });
}

void CollectiveRun::set_up_another(Flow& flow) {
  if (!status_.ok() || finished()) return;
  const std::vector<routing::NodeIndex>& nodes = flow.facts.path.nodes;
  const routing::Path path = paths_.next(nodes.front(), nodes.back());
  flow.has_no_path = !path.exists();
  if (flow.has_no_path) {
    // One that has nothing to send needs no path.
    if (!flow.sender().idle()) fail_without_path(flow);
    return;
  }
  flow.is_lost = false;
  flow.facts.path = path;
  ++flow.facts.circuits_before;
  world_.reroute(*flow.routed, path);
}

void CollectiveRun::fail_without_path(Flow& flow) {
  const auto name = [&](routing::NodeIndex node) { return world_.topology().node(node).name; };
  fail(absl::UnavailableError(absl::StrCat(
      flow.sender().last_end().message(), "; no other path is left from node ", name(flow.facts.path.nodes.front()),
      " to node ", name(flow.facts.path.nodes.back()), ": the flow fails after CABLEWAY_PATH_WAIT")));
}

std::uint64_t CollectiveRun::bytes_again() const {
  std::uint64_t sum = 0;
  for (const std::unique_ptr<Flow>& flow : flows_) sum += flow->sender().traffic().bytes_again();
  return sum;
}

void CollectiveRun::start() {
  for (const std::unique_ptr<Rank>& rank : ranks_) rank->start();
}

void CollectiveRun::note_finished(std::uint64_t operation) {
  if (--unfinished_ranks_[operation] == 0) completions_.push_back(world_.now());
  if (operation + 1 == facts_.operations && --unfinished_ == 0) when_ended_();
}

// Counted from the schedules, since progress has no operations before start().
std::uint64_t CollectiveRun::messages() const {
  std::uint64_t in_one = 0;
  for (const std::unique_ptr<Rank>& rank : ranks_) {
    const std::vector<workload::Step>& steps = rank->progress().schedule().steps;
    in_one += static_cast<std::uint64_t>(std::count_if(steps.begin(), steps.end(), [](const workload::Step& step) {
      return step.kind == workload::StepKind::kSend || step.kind == workload::StepKind::kReceive;
    }));
  }
  return in_one * facts_.operations;
}

std::vector<RankFlow> CollectiveRun::unfinished_flows_over(const std::vector<routing::CableIndex>& cables) const {
  std::vector<RankFlow> found;
  for (const std::unique_ptr<Flow>& flow : flows_) {
    const std::vector<routing::CableIndex>& path = flow->facts.path.cables;
    const bool crosses = std::any_of(path.begin(), path.end(), [&](routing::CableIndex cable) {
      return std::binary_search(cables.begin(), cables.end(), cable);
    });
    const bool is_finished = flow->source.finished() && flow->destination.finished();
    if (crosses && !flow->is_lost && !is_finished) found.push_back(flow->facts);
  }
  return found;
}

void CollectiveRun::fail(absl::Status status) {
  if (!status_.ok() || finished()) return;
  status_ = std::move(status);
  when_ended_();
}

}  // namespace cableway::sim
