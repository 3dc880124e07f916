#include "sim/prediction/collective_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flow/striping.h"

namespace cableway::sim {
namespace {

using workload::LaneKey;
using workload::ScheduleProgress;

// The address of payload that is only counted: never read or written.
std::byte* counted_bytes() {
  static std::byte nothing{};
  return &nothing;
}

struct Sent {
  std::uint64_t bytes = 0;
  bool is_large = false;  // there are messages that may be striped
};

// What a rank sends over each connection, by peer and channel.
std::map<std::pair<int, int>, Sent> sent_by_connection(const workload::Schedule& schedule) {
  std::map<std::pair<int, int>, Sent> found;
  for (const workload::Step& step : schedule.steps) {
    if (step.kind != workload::StepKind::kSend) continue;
    Sent& sent = found[{step.peer, step.channel}];
    sent.bytes += step.bytes;
    sent.is_large = sent.is_large || step.bytes > Striping{}.small_message;
  }
  return found;
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

  Flow(CircuitWorld& world, PathChooser& paths, const FlowRouting::Facts& facts, std::function<void(Flow&)> no_path)
      : routing(world, paths, facts, [this, no_path = std::move(no_path)] { no_path(*this); }) {}

  bool finished() const { return source.finished() && destination.finished(); }

  End source;
  End destination;
  FlowRouting routing;
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
  if (absl::Status status = sending ? flow.routing.sender().progress() : flow.routing.receiver().progress();
      !status.ok()) {
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
    if (sending ? !flow.routing.sender().done(message) : !flow.routing.receiver().done(message)) return;
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
        progress_.key(lane).sending ? flow.routing.sender().post(SendBuffer{counted_bytes(), 0}, step.bytes)
                                    : flow.routing.receiver().post(Landing{counted_bytes(), step.capacity, 0});
    if (!message.ok()) return run_.fail(message.status());
    progress_.posted(lane);
    if (!progress_.key(lane).sending) continue;
    flow.routing.posted();
    if (flow.routing.has_no_path()) return run_.fail_without_path(flow);
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

CollectiveRun::CollectiveRun(CircuitWorld& world, PathChooser& paths, const std::vector<routing::NodeIndex>& nodes,
                             std::vector<workload::Schedule> schedules, const CollectiveFacts& facts)
    : world_(world),
      paths_(paths),
      facts_(facts),
      unfinished_(schedules.size()),
      unfinished_ranks_(facts.operations, schedules.size()) {
  for (workload::Schedule& schedule : schedules) {
    ranks_.push_back(std::make_unique<Rank>(*this, std::move(schedule)));
  }
  connect(nodes);
}

CollectiveRun::~CollectiveRun() = default;

void CollectiveRun::connect(const std::vector<routing::NodeIndex>& nodes) {
  // The receiving lane of each connection, by (receiver, sender, channel).
  std::map<std::tuple<int, int, int>, ScheduleProgress::LaneIndex> receiving;
  std::vector<std::map<std::pair<int, int>, Sent>> sent;  // by rank
  for_each_lane([&](int rank, ScheduleProgress::LaneIndex lane, const LaneKey& key) {
    if (!key.sending) receiving[{rank, key.peer, key.channel}] = lane;
  });
  for (const std::unique_ptr<Rank>& rank : ranks_) sent.push_back(sent_by_connection(rank->progress().schedule()));
  for_each_lane([&](int rank, ScheduleProgress::LaneIndex lane, const LaneKey& key) {
    if (!key.sending) return;
    const Sent& what = sent[static_cast<std::size_t>(rank)].at({key.peer, key.channel});
    FlowRouting::Facts facts;
    facts.connection = {rank, key.peer, key.channel, {}, 0};
    facts.source = nodes[static_cast<std::size_t>(rank)];
    facts.destination = nodes[static_cast<std::size_t>(key.peer)];
    facts.bytes = what.bytes;
    facts.sends_large = what.is_large;
    facts.set_up = facts_.set_up;
    add_flow(facts, lane, receiving.at({key.peer, rank, key.channel}));
  });
}

std::vector<FlowDemand> CollectiveRun::demands() const {
  const bool have_alternates = world_.options().shares == CircuitShare::kAlternate;
  std::vector<FlowDemand> demands;
  demands.reserve(flows_.size());
  for (const std::unique_ptr<Flow>& flow : flows_) {
    const FlowRouting::Facts& facts = flow->routing.facts();
    demands.push_back({facts.source, facts.destination, facts.bytes, have_alternates && facts.sends_large});
  }
  return demands;
}

absl::Status CollectiveRun::open() {
  for (const std::unique_ptr<Flow>& flow : flows_) {
    if (flow->routing.open(flow->source, flow->destination)) continue;
    const FlowRouting::Facts& facts = flow->routing.facts();
    const auto name = [&](routing::NodeIndex node) { return world_.topology().node(node).name; };
    return absl::UnavailableError(absl::StrCat("rank ", facts.connection.source, " on node ", name(facts.source),
                                               " cannot reach rank ", facts.connection.destination, " on node ",
                                               name(facts.destination), ": no path of cables joins them"));
  }
  return absl::OkStatus();
}

void CollectiveRun::for_each_lane(const LaneVisitor& visit) const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const ScheduleProgress& progress = ranks_[rank]->progress();
    for (ScheduleProgress::LaneIndex lane = 0; lane < progress.lanes(); ++lane) {
      visit(static_cast<int>(rank), lane, progress.key(lane));
    }
  }
}

void CollectiveRun::add_flow(const FlowRouting::Facts& facts, ScheduleProgress::LaneIndex sending,
                             ScheduleProgress::LaneIndex receiving) {
  flows_.push_back(
      std::make_unique<Flow>(world_, paths_, facts, [this](Flow& without_path) { fail_without_path(without_path); }));
  Flow& flow = *flows_.back();
  const auto attach = [&](int rank, ScheduleProgress::LaneIndex lane, Flow::End& end) {
    Rank& its_rank = *ranks_[static_cast<std::size_t>(rank)];
    end.attach(its_rank, lane);
    its_rank.attach(lane, flow);
  };
  attach(facts.connection.source, sending, flow.source);
  attach(facts.connection.destination, receiving, flow.destination);
}

// After its sender has moved.
void CollectiveRun::note_sent(Flow& flow) {
  for (FlowReroute& reroute : flow.routing.moved()) reroutes_.push_back(std::move(reroute));
}

void CollectiveRun::fail_without_path(Flow& flow) {
  const auto name = [&](routing::NodeIndex node) { return world_.topology().node(node).name; };
  fail(absl::UnavailableError(absl::StrCat(flow.routing.sender().last_end().message(),
                                           "; no other path is left from node ", name(flow.routing.facts().source),
                                           " to node ", name(flow.routing.facts().destination),
                                           ": the flow fails after CABLEWAY_PATH_WAIT")));
}

std::size_t CollectiveRun::circuits() const {
  std::size_t sum = 0;
  for (const std::unique_ptr<Flow>& flow : flows_) sum += flow->routing.circuits();
  return sum;
}

std::uint64_t CollectiveRun::bytes_again() const {
  std::uint64_t sum = 0;
  for (const std::unique_ptr<Flow>& flow : flows_) sum += flow->routing.sender().traffic().bytes_again();
  return sum;
}

void CollectiveRun::start() {
  for (const std::unique_ptr<Rank>& rank : ranks_) rank->start();
}

void CollectiveRun::note_finished(std::uint64_t operation) {
  if (--unfinished_ranks_[operation] == 0) completions_.push_back(world_.now());
  if (operation + 1 != facts_.operations || --unfinished_ > 0) return;
  stop();
  when_ended_();
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
    if (flow->finished()) continue;
    if (std::optional<RankFlow> circuit = flow->routing.circuit_over(cables)) found.push_back(*std::move(circuit));
  }
  return found;
}

void CollectiveRun::fail(absl::Status status) {
  if (!status_.ok() || finished()) return;
  status_ = std::move(status);
  stop();
  when_ended_();
}

void CollectiveRun::stop() {
  for (const std::unique_ptr<Flow>& flow : flows_) flow->routing.stop();
}

}  // namespace cableway::sim
