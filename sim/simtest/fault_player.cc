#include "sim/simtest/fault_player.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "sim/simtest/ground/node_process.h"
#include "sim/simtest/ground/process_means.h"

namespace cableway::sim {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::uint64_t kUsualRate = 1000;  // per mille
constexpr std::chrono::milliseconds kStartsApart{7};
constexpr std::chrono::milliseconds kVerdictsApart{3};
constexpr std::size_t kLargestPacket = 1000;  // bytes; what a cable with kLarge still carries: small hellos fit

Duration from_us(std::uint64_t amount) {
  return std::chrono::microseconds(static_cast<std::int64_t>(amount));
}

std::uint32_t per_mille(std::uint64_t amount) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(amount, 1000));
}

// Adds a datagram fault to a cable's weather.
void add_to(CableFabric::Weather& weather, const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kLoss:
      weather.lost_per_mille = per_mille(weather.lost_per_mille + fault.amount);
      return;
    case FaultKind::kBurst:
      weather.burst_begins_per_mille = per_mille(fault.amount);
      return;
    case FaultKind::kDelay:
      weather.delay += from_us(fault.amount);
      return;
    case FaultKind::kJitter:
      weather.jitter += from_us(fault.amount);
      return;
    case FaultKind::kDouble:
      weather.doubled_per_mille = per_mille(fault.amount);
      return;
    case FaultKind::kCorrupt:
      weather.corrupted_per_mille = per_mille(fault.amount);
      return;
    case FaultKind::kQueue:
      weather.queue = static_cast<std::size_t>(fault.amount);
      return;
    default:
      return;
  }
}

}  // namespace

FaultPlayer::FaultPlayer(SimtestGround& ground, NodeRules& rules, std::vector<std::unique_ptr<SimtestFlow>>& flows,
                         std::vector<std::unique_ptr<Liar>>& liars)
    : ground_(ground),
      rules_(rules),
      flows_(flows),
      liars_(liars),
      plan_(ground.plan.faults),
      down_(ground.nodes.size()),
      carrier_(ground.nodes.fabric().segment_count(), true) {
  const bool replays =
      std::any_of(plan_.begin(), plan_.end(), [](const Fault& fault) { return fault.kind == FaultKind::kReplay; });
  if (replays) eavesdropper_ = std::make_unique<Eavesdropper>(ground);
  for (const Fault& fault : plan_) {
    if (fault.kind != FaultKind::kDrift) continue;
    const auto gains = static_cast<std::int64_t>(std::min<std::uint64_t>(fault.amount, 2 * kMillion)) - kMillion;
    clocks_.push_back(
        std::make_unique<DriftingClock>(ground_.clock(), std::clamp<std::int64_t>(gains, -kMillion / 2, kMillion / 2)));
    ground_.nodes.use_clock(target(fault), *clocks_.back());
  }
}

void FaultPlayer::start() {
  VirtualClock& clock = ground_.clock();
  for (std::size_t node = 0; node < ground_.nodes.size(); ++node) {
    clock.post_at(Instant{node * Duration(kStartsApart)}, [this, node] {
      if (!down_[node].any()) bring_up(node);
    });
  }
  for (const Fault& fault : plan_) {
    if (fault.kind == FaultKind::kDrift) continue;
    clock.post_at(Instant{fault.at}, [this, &fault] { begin(fault); });
    if (fault.lasts > Duration{0}) clock.post_at(Instant{fault.end()}, [this, &fault] { end(fault); });
    if (fault.kind == FaultKind::kFalseVerdict) {
      for (Duration at = fault.at; at < fault.end(); at += kVerdictsApart) {
        clock.post_at(Instant{at}, [this, &fault] { judge_wrongly(fault); });
      }
    }
    if (fault.kind != FaultKind::kFlap) continue;
    const Duration period = std::max<Duration>(from_us(fault.amount), std::chrono::milliseconds(1));
    for (Duration at = fault.at + period; at < fault.end(); at += period) {
      clock.post_at(Instant{at}, [this, &fault] { update(fault); });
    }
  }
}

Instant FaultPlayer::last_end() const {
  Instant last;
  for (const Fault& fault : plan_) {
    if (fault.kind != FaultKind::kDrift) last = std::max(last, Instant{fault.end()});
  }
  return last;
}

Instant FaultPlayer::calm() const {
  return last_end() + 2 * Duration(ground_.plan.hold) + std::chrono::seconds(2);
}

std::size_t FaultPlayer::target(const Fault& fault) const {
  switch (target_of(fault.kind)) {
    case FaultTarget::kCable:
      return fault.target % std::max<std::size_t>(carrier_.size(), 1);
    case FaultTarget::kNode:
      return fault.target % ground_.nodes.size();
    case FaultTarget::kFlow:
      return fault.target % std::max<std::size_t>(flows_.size(), 1);
    case FaultTarget::kNone:
      break;
  }
  return 0;
}

Liar& FaultPlayer::liar_of(const Fault& fault) const {
  return **std::find_if(liars_.begin(), liars_.end(), [&](const auto& liar) { return &liar->fault() == &fault; });
}

bool FaultPlayer::at_work(const Fault& fault) const {
  const Instant now = ground_.clock().now();
  return now >= Instant{fault.at} && (fault.lasts == Duration{0} || now < Instant{fault.end()});
}

// Lost carriers are counted where they are lost.
void FaultPlayer::begin(const Fault& fault) {
  ground_.trace.add(to_text(fault.kind));
  ++begun_[static_cast<std::size_t>(fault.kind)];
  if (fault.kind == FaultKind::kSilence || fault.kind == FaultKind::kPartition ||
      fault.kind == FaultKind::kCorruptData) {
    note_cut();
  }
  if (fault.kind == FaultKind::kLie) return liar_of(fault).begin();
  update(fault);
  if (fault.kind == FaultKind::kReplay) replay(fault);
  if (carrier_.empty() || target_of(fault.kind) != FaultTarget::kCable) return;
  const std::size_t cable = target(fault);
  if (fault.kind == FaultKind::kHold) {
    std::unique_ptr<DatagramHolder>& holder = holders_[&fault];
    holder = std::make_unique<DatagramHolder>(ground_.clock(), ground_.nodes.fabric(), cable, Holding(fault.amount),
                                              ground_.plan.seed);
    holder->begin();
  }
  if (fault.kind == FaultKind::kCut && fault.amount == 1) {
    ground_.plant.end_all(cable, absl::UnavailableError("the cable has lost its carrier"));
  } else if (fault.kind == FaultKind::kCorruptData) {
    ground_.plant.end_all(cable, absl::DataLossError("a segment arrived with a wrong checksum"));
  } else if (fault.kind == FaultKind::kFailSend) {
    ground_.plant.fail_next_sends(cable);
  } else if (fault.kind == FaultKind::kCutOn) {
    ground_.plant.end_all_on(cable, CutOn(fault.amount), Instant{fault.end()},
                             absl::UnavailableError("the cable has lost its carrier"));
  }
}

void FaultPlayer::note_cut() {
  const Instant now = ground_.clock().now();
  const bool loaded = std::any_of(flows_.begin(), flows_.end(), [now](const auto& flow) {
    return Instant{flow->plan().begins} <= now && !flow->over();
  });
  if (loaded) ++cuts_;
}

void FaultPlayer::end(const Fault& fault) {
  if (fault.kind == FaultKind::kLie) return liar_of(fault).end();
  if (const auto holder = holders_.find(&fault); holder != holders_.end()) holder->second->end();
  update(fault);
}

void FaultPlayer::update(const Fault& fault) {
  switch (target_of(fault.kind)) {
    case FaultTarget::kCable:
      if (carrier_.empty()) return;
      return fault.kind == FaultKind::kDrainCable ? update_drains(target(fault)) : update_cable(target(fault));
    case FaultTarget::kNode:
      return update_node(target(fault));
    case FaultTarget::kNone:
      for (std::size_t cable = 0; cable < carrier_.size(); ++cable) update_cable(cable);
      return;
    case FaultTarget::kFlow:
      if (!flows_.empty()) update_flow(fault);
  }
}

void FaultPlayer::judge_wrongly(const Fault& fault) {
  if (!flows_.empty()) flows_[target(fault)]->misjudge(fault.amount);
}

// Until the fault ends.
void FaultPlayer::replay(const Fault& fault) {
  if (carrier_.empty() || !at_work(fault)) return;
  eavesdropper_->play(target(fault));
  const Duration every = std::max<Duration>(from_us(fault.amount), std::chrono::milliseconds(1));
  ground_.clock().post_at(ground_.clock().now() + every, [this, &fault] { replay(fault); });
}

void FaultPlayer::update_flow(const Fault& fault) {
  SimtestFlow& flow = *flows_[target(fault)];
  if (fault.kind == FaultKind::kCutAnswer) flow.lose_answers(at_work(fault));
  if (fault.kind != FaultKind::kKill) return;
  const bool lives = !at_work(fault) && !down_[fault.amount == 0 ? flow.plan().source : flow.plan().destination].off;
  if (fault.amount == 0) {
    lives ? flow.revive_source() : flow.kill_source();
  } else {
    lives ? flow.revive_destination() : flow.kill_destination();
  }
}

bool FaultPlayer::has_carrier(std::size_t cable) const {
  return std::none_of(plan_.begin(), plan_.end(), [&](const Fault& fault) {
    if (target_of(fault.kind) != FaultTarget::kCable || target(fault) != cable || !at_work(fault)) return false;
    if (fault.kind == FaultKind::kCut) return true;
    const Duration period = std::max<Duration>(from_us(fault.amount), std::chrono::milliseconds(1));
    return fault.kind == FaultKind::kFlap && (ground_.clock().now() - Instant{fault.at}) / period % 2 == 0;
  });
}

void FaultPlayer::update_cable(std::size_t cable) {
  CableFabric& fabric = ground_.nodes.fabric();
  const auto& ends = fabric.ends_of(cable);
  std::vector<bool> mute(ends.size(), false);
  std::vector<std::size_t> largest(ends.size(), SIZE_MAX);
  std::vector<std::uint64_t> rates(ends.size(), kUsualRate);
  std::optional<CableFabric::Weather> weather;
  Duration late{0};
  std::uint64_t flip_every = 0;
  for (const Fault& fault : plan_) {
    if (!at_work(fault)) continue;
    if (fault.kind == FaultKind::kPartition) {
      const auto side = [&](std::size_t end) { return (fault.amount >> (ends[end].first % 64) & 1) != 0; };
      const auto is_parted = [&](std::size_t end) { return side(end) != side(0); };
      for (std::size_t end = 0; end < ends.size(); ++end) mute[end] = mute[end] || is_parted(end);
      // On a switch, a port that cannot send has no adjacency.
      if (ends.size() == 2) mute[0] = mute[0] || is_parted(1);
    }
    if (target_of(fault.kind) != FaultTarget::kCable || target(fault) != cable) continue;
    const RateChange change(fault.amount);
    for (std::size_t end = 0; end < std::min<std::size_t>(ends.size(), 64); ++end) {
      if (fault.kind == FaultKind::kRate && (change.ends >> end & 1) != 0) {
        rates[end] = std::max<std::uint64_t>(rates[end] * change.per_mille / kUsualRate, 1);
      }
      if ((fault.amount >> end & 1) == 0) continue;
      if (fault.kind == FaultKind::kSilence) mute[end] = true;
      if (fault.kind == FaultKind::kLarge) largest[end] = kLargestPacket;
    }
    if (fault.kind == FaultKind::kFlip) flip_every = std::max<std::uint64_t>(fault.amount, 1);
    if (fault.kind == FaultKind::kLateSend) late = std::max(late, from_us(fault.amount));
    if (!weather.has_value()) weather = CableFabric::Weather{};
    add_to(*weather, fault);
  }
  fabric.set_weather(cable, weather);
  for (std::size_t end = 0; end < ends.size(); ++end) {
    fabric.set_mute(cable, end, mute[end]);
    fabric.set_largest_packet(cable, end, largest[end]);
    ground_.plant.set_rate({cable, end}, rates[end]);
  }
  const bool carrier = has_carrier(cable);
  if (carrier != carrier_[cable]) {
    carrier_[cable] = carrier;
    if (!carrier) note_cut();
    fabric.set_carrier(cable, carrier);
  }
  ground_.plant.complete_late(cable, late);
  ground_.plant.flip_every(cable, flip_every);
  ground_.plant.segment_changed(cable);
}

// Called only when such a fault begins or ends: a node that restarts has forgotten what drained.
void FaultPlayer::update_drains(std::size_t cable) {
  const auto& ends = ground_.nodes.fabric().ends_of(cable);
  const auto drains_at = [&](std::size_t end) {
    return std::any_of(plan_.begin(), plan_.end(), [&](const Fault& fault) {
      if (fault.kind != FaultKind::kDrainCable || target(fault) != cable || !at_work(fault)) return false;
      return fault.amount >= 2 || fault.amount == end;
    });
  };
  for (std::size_t end = 0; end < ends.size(); ++end) {
    if (!ground_.nodes.runs(ends[end].first)) continue;
    for (std::size_t other = 0; other < ends.size(); ++other) {
      if (other != end) set_cable_drains(ends[end].first, ground_.cable_name(cable, end, other), drains_at(end));
    }
  }
}

// As for an operator, a cable that is not up cannot be drained, and one that the node has forgotten cannot be
// undrained.
void FaultPlayer::set_cable_drains(std::size_t node, const std::string& name, bool drains) {
  Node& running = ground_.nodes.node(node);
  (drains ? running.drain_cable(name) : running.undrain_cable(name)).IgnoreError();
}

void FaultPlayer::update_node(std::size_t node) {
  Down down;
  bool drains = std::find(ground_.plan.shape.draining.begin(), ground_.plan.shape.draining.end(), node) !=
                ground_.plan.shape.draining.end();
  SimtestHost& host = ground_.hosts[node];
  host.refuses = false;
  Duration slow{0};
  Duration stall{0};
  bool stands_still = false;
  for (const Fault& fault : plan_) {
    if (target_of(fault.kind) != FaultTarget::kNode || target(fault) != node || !at_work(fault)) continue;
    down.crashed = down.crashed || fault.kind == FaultKind::kCrash;
    down.off = down.off || fault.kind == FaultKind::kPower;
    down.left = down.left || fault.kind == FaultKind::kLeave;
    drains = drains || fault.kind == FaultKind::kDrain;
    host.refuses = host.refuses || fault.kind == FaultKind::kRefuse;
    stands_still = stands_still || fault.kind == FaultKind::kStop;
    if (fault.kind != FaultKind::kSlow) continue;
    slow = std::max(slow, from_us(fault.amount));
    stall = std::max(stall, longest_stall(fault.amount));
  }
  host.application_takes = slow;
  host.relay->set_chunk_time(slow);
  host.longest_stall = std::max(ground_.plan.stalls, stall);
  ground_.nodes.options(node).draining = drains;
  rules_.set_draining(node, drains);
  if (ground_.nodes.runs(node)) ground_.nodes.node(node).set_draining(drains);
  take_down(node, down);
  ground_.processes[node]->stand_still(stands_still);
}

void FaultPlayer::take_down(std::size_t node, const Down& down) {
  const Down before = down_[node];
  down_[node] = down;
  if (down.off && !before.off) {
    ground_.nodes.fabric().set_off(node, true);
    ground_.plant.lose(node);
    set_applications(node, false);
  } else if (before.off && !down.off) {
    ground_.nodes.fabric().set_off(node, false);
    set_applications(node, true);
  }
  if (down.any() && ground_.nodes.runs(node)) {
    down.left && !down.off ? ground_.nodes.leave(node) : ground_.nodes.kill(node);
    ground_.processes[node]->end();
    ground_.means[node]->node_ended();
  } else if (before.any() && !down.any()) {
    bring_up(node);
  }
}

void FaultPlayer::bring_up(std::size_t node) {
  ground_.nodes.start(node);
  ground_.processes[node]->start();
  rules_.node_started(node);
}

void FaultPlayer::set_applications(std::size_t node, bool live) {
  for (const std::unique_ptr<SimtestFlow>& flow : flows_) {
    if (flow->plan().source == node) live ? flow->revive_source() : flow->kill_source();
    if (flow->plan().destination == node) live ? flow->revive_destination() : flow->kill_destination();
  }
}

}  // namespace cableway::sim
