#include "sim/prediction/flow_routing.h"

#include <algorithm>
#include <utility>

#include "core/flow_circuits/circuit_preference.h"
#include "core/flow_circuits/flow_paths.h"
#include "core/flow_circuits/path_share.h"

namespace cableway::sim {

FlowRouting::FlowRouting(CircuitWorld& world, PathChooser& paths, Facts facts, std::function<void()> no_path)
    : world_(world), paths_(paths), facts_(std::move(facts)), no_path_(std::move(no_path)) {}

bool FlowRouting::open(LinkUser& source, LinkUser& destination) {
  ordinal_ = paths_.next_flow(facts_.source, facts_.destination);
  const std::vector<FlowPath> first = paths();
  if (first.empty()) return false;
  routed_ = &world_.open(source, destination);
  join(first);
  return true;
}

std::vector<FlowPath> FlowRouting::paths() const {
  const CircuitShare shares = facts_.sends_large ? world_.options().shares : CircuitShare::kNone;
  return paths_.paths(facts_.source, facts_.destination, ordinal_, shares);
}

// Sets up the circuits that the newest bundle lacks.
void FlowRouting::join(const std::vector<FlowPath>& paths) {
  for (const FlowPath& path : paths) {
    const auto is_member = [&](const Live& live) { return live.bundle == bundle_; };
    const auto is_there = [&](const Live& live) { return is_member(live) && live.connection.path == path.path; };
    if (std::any_of(live_.begin(), live_.end(), is_there)) continue;
    if (std::count_if(live_.begin(), live_.end(), is_member) >= static_cast<std::ptrdiff_t>(kMaxBundle)) return;
    if (!add(path)) return;
  }
}

bool FlowRouting::add(const FlowPath& path) {
  const std::optional<CircuitName> name =
      world_.add(*routed_, path.path, path.share == CircuitShare::kNone ? 0 : bundle_, path.share);
  if (!name.has_value()) return false;
  Live live{*name, facts_.connection, bundle_, path.share};
  live.connection.path = path.path;
  live.connection.circuits_before = made_++;
  live_.push_back(std::move(live));
  return true;
}

std::vector<FlowReroute> FlowRouting::moved() {
  std::vector<FlowReroute> reroutes;
  // Chunks over the last circuit were sent before it ended, so they are noted first.
  if (sender().live() == 0) {
    note_sent(reroutes);
    note_ended();
  } else {
    note_ended();
    note_sent(reroutes);
  }
  return reroutes;
}

void FlowRouting::note_ended() {
  const auto has_ended = [this](const Live& live) { return !sender().is_live(live.name); };
  if (std::none_of(live_.begin(), live_.end(), has_ended)) return;
  std::optional<Instant> since;
  if (!sender().idle()) since = sender().in_flight() && losses_.empty() ? last_sent_ : world_.now();
  for (const Live& live : live_) {
    if (has_ended(live)) losses_.push_back({live.connection, since});
  }
  std::erase_if(live_, has_ended);
  if (!std::exchange(renewing_, true)) after(facts_.set_up, &FlowRouting::renew);
}

void FlowRouting::note_sent(std::vector<FlowReroute>& reroutes) {
  const std::uint64_t chunks = sender().traffic().chunks();
  if (chunks == chunks_) return;
  chunks_ = chunks;
  last_sent_ = world_.now();
  const auto carries = [&](const Live& live) { return live.name == sender().traffic().last(); };
  const auto carrier = std::find_if(live_.begin(), live_.end(), carries);
  if (carrier == live_.end()) return;  // it is the one that ended
  for (const Loss& loss : std::exchange(losses_, {})) {
    reroutes.push_back(
        {loss.connection, carrier->connection.path, last_sent_, last_sent_ - loss.since.value_or(last_sent_)});
  }
}

void FlowRouting::posted() {
  if (sender().live() > 0) return;
  for (Loss& loss : losses_) loss.since = loss.since.value_or(world_.now());
}

void FlowRouting::renew() {
  renewing_ = false;
  const std::vector<FlowPath> now = paths();
  has_no_path_ = now.empty() && live_.empty();
  // A flow that has nothing to send needs no path.
  if (has_no_path_ && !sender().idle()) return no_path_();
  if (now.empty()) return;
  if (live_.empty()) {
    ++bundle_;
  } else if (!is_right(now)) {
    renewing_ = true;
    return after(kFollowAfter, &FlowRouting::change_bundle);
  }
  join(now);
  CircuitWorld::wake(*routed_);
}

bool FlowRouting::is_right(const std::vector<FlowPath>& paths) const {
  const auto is_on = [this](const Live& live, const FlowPath& path) {
    return live.bundle == bundle_ && live.connection.path == path.path;
  };
  const auto is_on_first = [&](const Live& live) { return is_on(live, paths.front()); };
  if (std::none_of(live_.begin(), live_.end(), is_on_first)) return false;
  // An alternate that is alone carries the flow as its first path would.
  const bool is_alone = live_.size() == 1;
  return std::all_of(live_.begin(), live_.end(), [&](const Live& live) {
    const auto has_part = [&](const FlowPath& path) {
      return is_on(live, path) && (is_alone || path.share == live.share);
    };
    return live.bundle != bundle_ || std::any_of(paths.begin(), paths.end(), has_part);
  });
}

void FlowRouting::change_bundle() {
  const std::vector<FlowPath> now = paths();
  if (now.empty() || live_.empty() || is_right(now)) return renew();
  ++bundle_;
  if (!add(now.front())) return after(kKeepWorse, &FlowRouting::leave_old_bundles);
  const CircuitName first = live_.back().name;
  world_.after(kProven, [this, first] {
    if (stopped_ || !receiver().is_live(first)) return;
    receiver().prefer(first);
    CircuitWorld::wake(*routed_);
  });
  after(kKeepWorse, &FlowRouting::leave_old_bundles);
  join(now);  // the rest once the old ones have made room
  CircuitWorld::wake(*routed_);
}

void FlowRouting::leave_old_bundles() {
  const auto is_old = [this](const Live& live) { return live.bundle != bundle_; };
  std::vector<Live> old;
  std::copy_if(live_.begin(), live_.end(), std::back_inserter(old), is_old);
  if (old.size() < live_.size()) {
    std::erase_if(live_, is_old);
    for (const Live& each : old) {
      sender().end_circuit(each.name, absl::CancelledError("a better path carries the flow now"));
    }
  }
  renew();
}

void FlowRouting::after(Duration delay, void (FlowRouting::*what)()) {
  world_.after(delay, [this, what] {
    if (!stopped_) (this->*what)();
  });
}

std::optional<RankFlow> FlowRouting::circuit_over(const std::vector<routing::CableIndex>& cables) const {
  const auto is_over = [&](const Live& live) {
    const std::vector<routing::CableIndex>& path = live.connection.path.cables;
    const bool carries = live.share != CircuitShare::kAlternate || sender().traffic().bytes_over(live.name.slot) > 0;
    return carries && std::any_of(path.begin(), path.end(), [&](routing::CableIndex cable) {
             return std::binary_search(cables.begin(), cables.end(), cable);
           });
  };
  const auto found = std::find_if(live_.begin(), live_.end(), is_over);
  return found == live_.end() ? std::nullopt : std::optional(found->connection);
}

}  // namespace cableway::sim
