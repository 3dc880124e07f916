#include "core/flow_circuits/source_circuits.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/circuit/flow_proof.h"
#include "core/circuit/hop_names.h"
#include "core/flow/chunk_link.h"
#include "core/flow_circuits/circuit_preference.h"
#include "core/flow_circuits/path_share.h"

namespace cableway {
namespace {

constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{1000};
// A circuit that lived at least this long resets the pause.
constexpr std::chrono::seconds kGoodLife{1};
constexpr std::size_t kShortLives = 4;
constexpr std::chrono::milliseconds kOutageWatch{100};
// The pause before a flow that lacks a further circuit looks for a path again.
constexpr std::chrono::seconds kFurtherPause{5};
// The pause before a flow without a first circuit, whose paths have all failed, tries them again. Each flow adds its
// own part of the spread: otherwise two flows that compete for the last place of a relay would refuse each other
// again in lockstep.
constexpr std::chrono::milliseconds kOpenAgainPause{400};
constexpr std::uint64_t kOpenAgainSpreadMs = 200;
// How often a flow that is not on its best path looks for it.
constexpr std::chrono::seconds kLookForBetter{2};
constexpr std::size_t kEagerLooks = 15;
constexpr std::chrono::seconds kLookLater{30};
constexpr std::chrono::seconds kFirstHoldOff{1};
constexpr std::chrono::seconds kLongestHoldOff{30};

std::uint64_t seed_of(const FlowNonce& nonce) {
  std::uint64_t seed = 0;
  std::memcpy(&seed, nonce.data(), std::min(sizeof seed, nonce.size()));
  return seed;
}

}  // namespace

SourceCircuits::SourceCircuits(const FlowMeans& means, FlowIdentity identity, const Limits& limits, Flow& flow)
    : means_(means),
      identity_(std::move(identity)),
      limits_(limits),
      flow_(flow),
      open_again_pause_(kOpenAgainPause + std::chrono::milliseconds(seed_of(identity_.nonce) % kOpenAgainSpreadMs)),
      pause_(kFirstPause),
      hold_off_(kFirstHoldOff),
      further_hold_off_(kFirstHoldOff),
      balance_(seed_of(identity_.nonce)),
      outage_(limits.path_wait, identity_.destination_node),
      inquiry_(means, identity_, FlowInquiry::From::kSource,
               {[this](const absl::Status& answer) {
                  if (flow_.live() == 0) end(outage_.forgotten(answer));
                },
                [](const absl::Status& /*reason*/) {}}) {}

void SourceCircuits::start() {
  opening_.begin(clock().now(), limits_.open, outage_.limit() == Duration{0});
  // The node may take some time to answer that there is no path. A dial limits itself: its budget is within the
  // remaining time.
  retry_limit_ = clock().call_after(limits_.open, [this] {
    if (!opened_ && !over_ && !opening_.first_failure().ok() && dial_ == nullptr) end(opening_.first_failure());
  });
  find_paths();
}

void SourceCircuits::want(std::size_t circuits) {
  if (circuits == wanted_) return;
  wanted_ = circuits;
  looks_for_standby_ = wanted_ > 1;
  if (opened_) find_paths();
}

void SourceCircuits::stripe() {
  if (limits_.shares == CircuitShare::kNone || std::exchange(striped_, true)) return;
  looks_for_parallels_ = true;
  if (opened_) find_paths();
}

void SourceCircuits::asked() {
  // If a circuit is still live here, its end has not been noticed yet, and the destination will ask again.
  if (over_ || flow_.live() > 0) return;
  asked_ = true;
  if (retry_ == nullptr) find_paths();
}

void SourceCircuits::posted() {
  if (!over_ && opened_ && flow_.live() == 0 && retry_ == nullptr) find_paths();
}

void SourceCircuits::stop() {
  over_ = true;
  dial_.reset();
  retry_limit_.reset();
  inquiry_.stop();
  retry_.reset();
  watch_.reset();
  look_.reset();
  end_worse_.reset();
}

void SourceCircuits::circuit_ended(const CircuitName& circuit, const absl::Status& reason) {
  if (over_) return;
  const Live ended = std::exchange(live_[circuit.slot], {});
  looks_for_parallels_ = striped_;
  looks_for_standby_ = wanted_ > 1;
  if (ended.leaving) return find_paths();
  if (flow_.live() == 0 && !without_since_.has_value()) without_since_ = clock().now();
  suspect(ended.path);
  const Duration lived = clock().now() - ended.joined_at;
  // From now on the flow may be off its best path, which the topology may not have for a while.
  keeps_looking_ = true;
  looks_ = 0;
  look_again();
  ++short_lives_;
  if (lived >= kGoodLife) {
    pause_ = kFirstPause;
    short_lives_ = 0;
    outage_.ended();
  }
  if (lived >= kLongestHoldOff) further_hold_off_ = kFirstHoldOff;
  if (ended.rank == 0) {
    hold_off_ = lived >= kLongestHoldOff ? kFirstHoldOff : std::min<Duration>(2 * hold_off_, kLongestHoldOff);
  }
  if (ends_flow(reason)) return end(reason);
  if (flow_.live() == 0) {
    outage_.began(reason);
    if (outage_.limit() == Duration{0}) return end(reason);
    retry_.reset();  // a pending retry was for a further circuit
    inquiry_.outage_began(FlowInquiry::kInterval);
    watch();
  }
  // Circuits that repeatedly join and end are paced like failed attempts, and count as one outage while no data arrives
  // (Outage::lasts_too_long()).
  short_lives_ < kShortLives ? find_paths() : pause();
}

// If live circuits use part of the failed path, only the rest of the path is suspect.
void SourceCircuits::suspect(const Elements& path) {
  Elements suspected = path;
  if ((striped_ || wanted_ > 1) && flow_.live() > 0) {
    further_hold_off_ = std::min<Duration>(2 * further_hold_off_, kLongestHoldOff);
    const auto is_used = [&](const std::string& element) {
      return std::any_of(live_.begin(), live_.end(), [&](const Live& each) {
        return std::find(each.path.begin(), each.path.end(), element) != each.path.end();
      });
    };
    suspected.erase(std::remove_if(suspected.begin(), suspected.end(), is_used), suspected.end());
  }
  suspects_.add(path, suspected, clock().now());
}

void SourceCircuits::find_paths() {
  if (over_ || finding_ || dial_ != nullptr) return;
  if (flow_.live() > 0 && !looks_for_standby_ && !looks_for_parallels_) return;
  // The other end may have closed its circuits because the job has ended.
  if (opened_ && flow_.live() == 0 && !flow_.waits() && !asked_) return;
  retry_.reset();
  finding_ = true;
  means_.find_paths(identity_.destination_node, identity_.ordinal + turn_, kPathsForFlow,
                    [this, life = std::weak_ptr<char>(lifetime_)](absl::StatusOr<PathOffers> offers) {
                      if (!life.expired()) have_paths(std::move(offers));
                    });
}

void SourceCircuits::have_paths(absl::StatusOr<PathOffers> offers) {
  finding_ = false;
  if (over_) return;
  // An error of this node says nothing about the destination's process (ends_flow()).
  const bool is_further = flow_.live() > 0;
  if (!offers.ok() && is_further) return retry_after(kFurtherPause);
  if (!offers.ok()) return no_path(offers.status());
  std::optional<std::size_t> rank = is_further ? choose_standby(*offers) : choose(*offers);
  if (is_further && !rank.has_value()) rank = choose_parallel(*offers);
  if (!rank.has_value()) {
    if (is_further && !looks_for_standby_ && !looks_for_parallels_) return;
    if (opened_) return retry_after(kFurtherPause);
    return opening_.try_all_again(clock().now()) ? retry_after(open_again_pause_) : end(opening_.first_failure());
  }
  if (!opened_) leaves_time_ = may_work_besides(*offers, *rank);
  // No name is available while too many circuits wait for their counts.
  const std::optional<CircuitName> circuit = flow_.reserve();
  circuit.has_value() ? dial(*circuit, (*offers)[*rank], rank_for(*rank), offer_) : pause();
}

void SourceCircuits::dial(const CircuitName& circuit, const PathOffer& path, std::uint8_t rank, std::uint32_t offer) {
  const std::chrono::milliseconds budget =
      opened_ ? kReopenLimit : opening_.dial(elements_of_path(path.hops), leaves_time_, clock().now());
  setup_ = CircuitSetup{};
  setup_.nonce = identity_.nonce;
  setup_.circuit = circuit;
  setup_.offer = offer;
  setup_.rank = rank;
  setup_.share = share_of(path);
  dials_equal_ = path.equals_first;
  dials_beside_others_ = flow_.live() > 0;
  // A circuit on the first path of a new offer will replace the others.
  setup_.further = dials_beside_others_ && (rank > 0 || offer == offer_);
  setup_.source_port = identity_.source_port;
  setup_.path_wait_ms = static_cast<std::uint32_t>(limits_.path_wait.count());
  setup_.flow = identity_.flow;
  setup_.chunk_bytes = limits_.chunk_bytes;
  setup_.budget_ms = static_cast<std::uint32_t>(budget.count());
  setup_.from_node = identity_.source_node;
  setup_.hops = path.hops;
  setup_.hops.back().to_port = identity_.destination_port;
  add_flow_proof(identity_.cookie, setup_);
  dial_ = std::make_unique<HopDial>(means_.dial, setup_, means_.key(),
                                    [this](absl::StatusOr<OpenHop> hop) { dialed(std::move(hop)); });
  dial_->start();
}

void SourceCircuits::dialed(absl::StatusOr<OpenHop> hop) {
  if (!hop.ok()) return dial_failed(hop.status());
  dial_.reset();
  const std::uint8_t slot = setup_.circuit.slot;
  if (absl::Status joined = flow_.join(setup_, *std::move(hop)); !joined.ok()) {
    give_up_move();
    suspect(elements_of_path(setup_.hops));
    return failed(joined);
  }
  if (!std::exchange(opened_, true)) pause_ = kFirstPause;
  without_since_.reset();
  if (setup_.rank == 0) move_.reset();
  offer_ = setup_.offer;
  live_[slot] = {.name = setup_.circuit,
                 .path = elements_of_path(setup_.hops),
                 .rank = setup_.rank,
                 .offer = setup_.offer,
                 .share = setup_.share,
                 .equals_first = dials_equal_,
                 .joined_at = clock().now()};
  if (!has_first()) keep_looking();
  if (setup_.rank == 0 && flow_.live() > 1) {
    for (Live& other : live_) {
      if (&other != &live_[slot]) other.rank = std::max<std::uint8_t>(other.rank, 1);
    }
    looks_for_parallels_ = striped_;
    end_worse_ = clock().call_after(kKeepWorse, [this] { end_worse(); });
  }
  looks_for_standby_ = wanted_ > 1;
  asked_ = false;
  watch_.reset();
  find_paths();
}

void SourceCircuits::dial_failed(const absl::Status& reason) {
  dial_.reset();
  flow_.release(setup_.circuit);
  give_up_move();
  suspect(elements_of_path(setup_.hops));
  const bool lacks_room = refused_for_room(reason);
  if (lacks_room) opening_.wait_for_room();
  failed(absl::Status(lacks_room ? absl::StatusCode::kUnavailable : reason.code(),
                      absl::StrCat("no circuit ", describe_path(setup_), ": ", reason.message())));
}

// Without this the dial would take up to kReopenLimit, and the flow tries only one path at a time. If only the RDMA
// device has failed, the device ends its dials itself.
void SourceCircuits::lose_port(const PortLost& lost) {
  if (over_ || dial_ == nullptr || lost.only_rdma) return;
  const HopEnd end = dialing_end(setup_, 0);
  if (!is_over(end, lost)) return;
  opening_.wait_for_return();
  dial_failed(found_at(to_text(end), absl::UnavailableError(lost.reason)));
}

void SourceCircuits::failed(const absl::Status& reason) {
  if (!opened_) {
    if (ends_flow(reason)) return end(reason);
    opening_.dial_failed(elements_of_path(setup_.hops), reason, clock().now());
    return opening_.left(clock().now()) > Duration{0} ? find_paths() : end(opening_.first_failure());
  }
  // While another circuit is live, the destination's answer is in doubt. A newly offered path may take a moment until
  // it works.
  if (flow_.live() > 0) {
    report_further(reason);
    keep_looking();
    looks_for_standby_ = wanted_ > 1;
    return pause();
  }
  switch (outage_.failed(reason)) {
    case Outage::Verdict::kGoOn:
      return pause();
    case Outage::Verdict::kConfirm:
      return retry_after(FlowInquiry::kConfirmAfter);
    case Outage::Verdict::kOver:
      return end(outage_.forgotten(reason));
  }
}

// Reports each reason once, since a path that never works is tried repeatedly.
void SourceCircuits::report_further(const absl::Status& reason) {
  if (further_failures_.size() == kMaxReasons) return;
  if (further_failures_.insert(std::string(reason.message())).second) flow_.lacks_circuit(reason);
}

// Paces the attempts: the node may answer so at once, however often it is asked.
void SourceCircuits::no_path(const absl::Status& answer) {
  const absl::Status reason = absl::UnavailableError(answer.message());
  if (opened_) {
    outage_.attempt_failed(reason);
    return pause();
  }
  opening_.failed(reason);
  if (opening_.has_had_path()) opening_.wait_for_return();
  opening_.try_all_again(clock().now()) ? pause() : end(opening_.first_failure());
}

void SourceCircuits::pause() {
  retry_after(pause_);
  pause_ = std::min<Duration>(2 * pause_, kLongestPause);
}

void SourceCircuits::retry_after(Duration pause) {
  retry_ = clock().call_after(pause, [this] {
    retry_.reset();
    find_paths();
  });
}

void SourceCircuits::watch() {
  watch_ = clock().call_after(std::min<Duration>(kOutageWatch, outage_.limit()), [this] {
    if (flow_.live() > 0) return;
    const bool waits = flow_.waits();
    if (outage_.lasts_too_long(clock().now(), waits, flow_.arrived())) {
      return end(outage_.too_long());
    }
    watch();
    // Set-ups ask the destination as well, but not where no path can carry a circuit.
    waits ? inquiry_.tick() : inquiry_.outage_began(FlowInquiry::kInterval);
    if (over_) return;
    cancel_further();
    if (retry_ == nullptr) find_paths();
  });
}

// The dial of a further circuit may take up to kReopenLimit, and until then the flow tries no other path. Its path
// has not failed, so it is recorded as failed just before the outage: choose() prefers it to the paths that have
// failed since.
void SourceCircuits::cancel_further() {
  if (dial_ == nullptr || !dials_beside_others_) return;
  dial_.reset();
  flow_.release(setup_.circuit);
  give_up_move();
  const Elements path = elements_of_path(setup_.hops);
  const Instant before = *without_since_ + Duration(std::chrono::milliseconds(-1));
  if (suspects_.last_failure(path) < before) suspects_.add(path, path, before);
}

void SourceCircuits::paths_changed(Duration delay) {
  if (over_) return;
  if (look_ == nullptr || clock().now() + delay < look_at_) look_after(delay);
}

void SourceCircuits::keep_looking() {
  if (!std::exchange(keeps_looking_, true)) look_again();
}

void SourceCircuits::look_again() {
  if (keeps_looking_) look_after(++looks_ <= kEagerLooks ? kLookForBetter : kLookLater);
}

void SourceCircuits::look_after(Duration delay) {
  look_at_ = clock().now() + delay;
  look_ = clock().call_after(delay, [this] {
    look_.reset();
    look_for_better();
  });
}

void SourceCircuits::look_for_better() {
  // A search or dial in progress comes first. A flow without a circuit looks for any path, not for the best one.
  if (finding_ || dial_ != nullptr || flow_.live() == 0) return look_after(kLookForBetter);
  finding_ = true;
  means_.find_paths(identity_.destination_node, identity_.ordinal + turn_, kPathsForFlow,
                    [this, life = std::weak_ptr<char>(lifetime_)](const absl::StatusOr<PathOffers>& offers) {
                      if (!life.expired()) have_better(offers);
                    });
}

void SourceCircuits::have_better(const absl::StatusOr<PathOffers>& offers) {
  finding_ = false;
  if (over_) return;
  const bool has_offers = offers.ok() && flow_.live() > 0;
  if (move_.has_value() && !(has_offers && elements_of_path(offers->front().hops) == move_->path)) {
    if (has_offers && move_->turns_left-- > 0) {
      ++turn_;
    } else {
      give_up_move();
    }
    return flow_.live() == 0 ? find_paths() : look_for_better();
  }
  if (look_ == nullptr) look_again();  // after a move, the requested look is still due
  if (flow_.live() == 0) return find_paths();
  if (!offers.ok()) return;
  const Elements best = elements_of_path(offers->front().hops);
  end_not_offered(*offers);
  const bool has_left = bundle_has_left(*offers);
  if (const Live* live = find_live(best); live != nullptr && !has_left) {
    const bool is_standby = stays(*live) && !is_bundled(*live) && live != preferred() && end_worse_ == nullptr;
    if (!is_standby) {
      move_.reset();  // the flow is already there
      // The circuit is from an earlier offer and about to end: the flow moves back after that.
      if (live->rank > 0 && look_ == nullptr) look_after(kKeepWorse);
      return look_for_further();
    }
  }
  const Instant failed_at = suspects_.last_failure(best);
  if (failed_at > Instant{} && clock().now() - failed_at < hold_off_) {
    give_up_move();
    return look_for_further();
  }
  const std::optional<CircuitName> circuit = flow_.reserve();
  if (!circuit.has_value()) {
    give_up_move();
    make_place();
    return look_after(kLookForBetter);
  }
  // The first path of a bundle that is still the right one may rejoin the bundle.
  const auto is_member = [&](const Live& each) { return is_bundled(each); };
  const auto members = static_cast<std::size_t>(std::count_if(live_.begin(), live_.end(), is_member));
  const bool has_room = members > 0 && members < kMaxBundle;
  const bool joins_bundle = striped_ && !has_left && !has_first() && has_room;
  dial(*circuit, offers->front(), 0, joins_bundle ? offer_ : offer_ + 1);
}

void SourceCircuits::look_for_further() {
  looks_for_parallels_ = striped_;
  looks_for_standby_ = wanted_ > 1;
  find_paths();
}

void SourceCircuits::end_worse() {
  end_worse_.reset();
  if (!has_first()) return;  // the better circuit has ended
  const Elements first = preferred()->path;
  for (Live& live : live_) {
    const bool is_twin = live.path == first;
    const auto staying = static_cast<std::size_t>(std::count_if(live_.begin(), live_.end(), stays));
    // A striped flow sets up the circuits of its new bundle itself.
    const bool is_wanted = !is_twin && !striped_ && std::min(staying, flow_.live()) <= wanted_;
    const bool is_the_standby = wanted_ > 1 && has_standby() && !has_standby(&live);
    if (is_wanted || is_the_standby || flow_.live() < 2) continue;
    if (stays(live) && live.rank > 0 && !is_bundled(live)) leave(live, "a better path carries the flow now");
  }
  // The remaining circuits may lack a standby, or have a standby whose path is not offered.
  if (wanted_ > 1) paths_changed(Duration{0});
}

// Whether a standby is possible over a path without packet loss.
bool SourceCircuits::has_better_standby(const PathOffers& offers) const {
  return std::any_of(offers.begin(), offers.end(), [&](const PathOffer& offer) {
    const Elements path = elements_of_path(offer.hops);
    return !offer.last_resort && !has_live_relays(path) && !is_held_off(path);
  });
}

// Ends standbys whose path is not offered or loses packets, or which are not needed. The primary and its bundle stay,
// since the flow must move first.
void SourceCircuits::end_not_offered(const PathOffers& offers) {
  const Live* const carries = preferred();
  if (carries == nullptr || end_worse_ != nullptr || flow_.live() < 2) return;
  for (Live& live : live_) {
    if (!stays(live) || carries_with(live, *carries)) continue;
    const auto offered = std::find_if(offers.begin(), offers.end(), [&](const PathOffer& offer) {
      return elements_of_path(offer.hops) == live.path;
    });
    // A circuit of an earlier offer that is no longer needed would occupy the place that the next move needs.
    const bool is_spare = live.offer != offer_ && has_standby(&live);
    if (offered == offers.end()) {
      leave(live, "its path is no longer offered");
    } else if (offered->last_resort && has_better_standby(offers)) {
      leave(live, "its path loses packets");
    } else if (is_spare) {
      leave(live, "the flow no longer needs it");
    }
  }
}

// Makes room for the circuit to which the flow is to move, when the flow has the maximum number of circuits.
void SourceCircuits::make_place() {
  const Live* const carries = preferred();
  if (carries == nullptr || end_worse_ != nullptr || flow_.live() < 2) return;
  const auto spare = std::find_if(live_.begin(), live_.end(),
                                  [&](const Live& live) { return stays(live) && !carries_with(live, *carries); });
  if (spare != live_.end()) leave(*spare, "another path needs its place");
}

void SourceCircuits::leave(Live& live, const char* reason) {
  live.leaving = true;
  flow_.end_circuit(live.name, absl::CancelledError(reason));
}

void SourceCircuits::end(const absl::Status& reason) {
  stop();
  flow_.fail(reason);
}

}  // namespace cableway
