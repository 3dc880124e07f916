#include "core/circuit/transit_setups.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/circuit/circuit_events.h"
#include "core/circuit/hop_names.h"

namespace cableway {
namespace {

// A tenth for each hop would leave a view on a long path no time. As its set-ups do not wait, this is enough.
constexpr std::int64_t kViewAnswerMs = 5;

// The budget for the rest of the path: the remaining time less a tenth of the set-up's budget, which is for the
// answer to travel back. The next nodes must give up before this one's peer does.
std::uint32_t onward_budget_ms(SetupPurpose purpose, std::uint32_t budget_ms, Duration waited) {
  const auto waited_ms = std::chrono::ceil<std::chrono::milliseconds>(waited).count();
  const std::int64_t kept = purpose == SetupPurpose::kView ? kViewAnswerMs : budget_ms / 10;
  const std::int64_t left = std::int64_t{budget_ms} - kept - waited_ms;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(left, 1));
}

}  // namespace

// For everyone: places that are left. Then for this neighbour: its share of them.
absl::Status TransitSetups::check_room(const CircuitSetup& setup, const ShareHolder& upstream) const {
  if (setup.purpose == SetupPurpose::kInquiry) {
    return check_passed_on({inquiries_, kMaxInquiries, kMaxInquiriesOfAll, "inquiries"}, upstream);
  }
  if (setup.purpose == SetupPurpose::kView) {
    return check_passed_on({views_, kMaxViews, kMaxViewsOfAll, "requests for views"}, upstream);
  }
  const std::size_t taken = host_.circuits() + in_setup();
  if (taken >= host_.max_circuits()) return host_.no_room(in_setup());
  if (absl::Status share = check_share(upstream); !share.ok()) return share;
  if (!setup.further || taken < host_.max_circuits() / 2) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("node ", name_, " relays ", host_.circuits(),
                                                   " circuits, and keeps the rest of its ", host_.max_circuits(),
                                                   " places for first circuits and those that replace others"));
}

absl::Status TransitSetups::check_passed_on(const PassedOn& kind, const ShareHolder& upstream) const {
  const std::size_t own = kind.held.of(upstream);
  const bool is_free = may_take(upstream, kind.most_of_all, kind.held.all(), host_.neighbours(), {&kind.held});
  if (own < kind.most && is_free) return absl::OkStatus();
  const std::string why = is_free ? "" : "; the rest of what it passes on is used by or reserved for others";
  return absl::ResourceExhaustedError(absl::StrCat("node ", name_, " already passes on ", own, " ", kind.what, " from ",
                                                   share_holder_text(upstream), why));
}

absl::Status TransitSetups::check_share(const ShareHolder& upstream) const {
  const std::set<ShareHolder> neighbours = host_.neighbours();
  const std::size_t most = host_.max_circuits();
  if (!may_take(upstream, most, host_.circuits() + in_setup(), neighbours, {&in_setup_, &open_})) {
    return absl::ResourceExhaustedError(
        absl::StrCat("node ", name_, " has no room for another circuit from ", share_holder_text(upstream), ": ",
                     in_setup_.of(upstream) + open_.of(upstream), " of ", most,
                     " places are in use from there; the rest is used by or reserved for others"));
  }
  if (may_take(upstream, max_in_setup(most), in_setup(), neighbours, {&in_setup_})) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("node ", name_, " has no room for another circuit from ",
                                                   share_holder_text(upstream), " now: ", in_setup_.of(upstream),
                                                   " set-ups from there are in progress, of at most ",
                                                   max_in_setup(most), " from all peers; try again"));
}

absl::Status TransitSetups::make_room(const CircuitSetup& setup, const ShareHolder& upstream) {
  absl::Status room = check_room(setup, upstream);
  if (room.ok() || setup.purpose != SetupPurpose::kCircuit || setup.further) return room;
  return give_way(setup, upstream) ? check_room(setup, upstream) : room;
}

// Ends the oldest of the neighbour's set-ups that have been dialing for long. False: there is none, or the new one
// could not be dialed.
bool TransitSetups::give_way(const CircuitSetup& to, const ShareHolder& upstream) {
  if (in_setup_.of(upstream) < kMany) return false;
  const Instant now = means_.clock.now();
  const auto oldest = std::find_if(dialing_.begin(), dialing_.end(), [&](const Dialing& each) {
    return each.held.holder() == upstream && each.setup.setup().purpose == SetupPurpose::kCircuit;
  });
  if (oldest == dialing_.end() || now - oldest->since < kGivesWayAfter) return false;
  if (!host_.check_transit(to).ok()) return false;
  const auto age = (now - oldest->since) / std::chrono::milliseconds(1);
  const absl::Status reason = absl::ResourceExhaustedError(
      absl::StrCat("node ", name_, " needs the place for a newer set-up from ", share_holder_text(upstream),
                   ": this one was not open after ", age, " ms"));
  ArrivedSetup ended = std::move(oldest->setup);
  dialing_.erase(oldest);
  note_dial_ended(ended.setup(), reason);
  refuse(std::move(ended), reason);
  return true;
}

void TransitSetups::arrived(ArrivedSetup setup) {
  const ShareHolder upstream = host_.neighbour_at(setup.connection());
  // First, because it costs least: a party that sends too many must not take this node's time.
  if (absl::Status room = make_room(setup.setup(), upstream); !room.ok()) return refuse(std::move(setup), room);
  note(EventCode::kSetupArrived, setup.setup(), " has arrived");
  const absl::Status status = host_.check_transit(setup.setup());
  if (status.ok()) return dial_onward(std::move(setup), upstream, means_.clock.now());
  // The source's topology may be newer than this node's, after a node has started or a cable was plugged in.
  const bool is_view = setup.setup().purpose == SetupPurpose::kView;  // its source has another path, or asks again
  if (!absl::IsNotFound(status) || is_view) return refuse(std::move(setup), status);
  wait_for_topology(std::move(setup), upstream, status);
}

void TransitSetups::wait_for_topology(ArrivedSetup setup, const ShareHolder& upstream, const absl::Status& why) {
  if (!may_take(upstream, kMaxWaiting, waits_.all(), host_.neighbours(), {&waits_})) {
    return refuse(std::move(setup),
                  absl::ResourceExhaustedError(absl::StrCat("node ", name_, " already has ", waits_.of(upstream),
                                                            " set-ups from ", share_holder_text(upstream),
                                                            " that wait for the topology; last: ", why.message())));
  }
  const Instant now = means_.clock.now();
  const auto budget = std::chrono::milliseconds(setup.setup().budget_ms);
  const Instant deadline = now + std::min<Duration>(budget / 2, kTransitLimit);
  events_.raise(EventCode::kSetupWaiting,
                absl::StrCat("set-up ", circuit_text(setup.setup()), " waits for the topology: ", why.message()),
                circuit_fields(setup.setup(), why));
  HeldPlaces::Place held = held_by(setup.setup()).take(upstream);
  waiting_.push_back({std::move(setup), waits_.take(upstream), std::move(held), now, deadline});
  check_waiting();
}

void TransitSetups::check_waiting() {
  const Instant now = means_.clock.now();
  for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
    const absl::Status status = host_.check_transit(waiting->setup.setup());
    if (absl::IsNotFound(status) && now < waiting->deadline) {
      ++waiting;
      continue;
    }
    ArrivedSetup setup = std::move(waiting->setup);
    const Instant arrived = waiting->arrived;
    waiting = waiting_.erase(waiting);
    if (!status.ok()) {
      refuse(std::move(setup), status);
      continue;
    }
    // Its neighbour may have come up meanwhile.
    const ShareHolder upstream = host_.neighbour_at(setup.connection());
    const absl::Status room = make_room(setup.setup(), upstream);
    room.ok() ? dial_onward(std::move(setup), upstream, arrived) : refuse(std::move(setup), room);
  }
  deadline_.reset();
  // Earlier changes arrive through topology_changed().
  const auto first = std::min_element(waiting_.begin(), waiting_.end(),
                                      [](const auto& a, const auto& b) { return a.deadline < b.deadline; });
  if (first == waiting_.end()) return;
  deadline_ = means_.clock.call_at(first->deadline, [this] { check_waiting(); });
}

void TransitSetups::dial_onward(ArrivedSetup setup, const ShareHolder& upstream, Instant arrived) {
  CircuitSetup onward = setup.setup();
  ++onward.hop;
  onward.budget_ms = onward_budget_ms(onward.purpose, onward.budget_ms, means_.clock.now() - arrived);
  if (onward.purpose == SetupPurpose::kInquiry) {
    onward.budget_ms = std::min(onward.budget_ms, static_cast<std::uint32_t>(kInquiryLimit.count()));
  }
  note(EventCode::kDialStarted, onward,
       absl::StrCat(" dials node ", onward.this_hop().to_node, " over cable ", onward.this_hop().cable),
       {{"cable", onward.this_hop().cable}, {"neighbour", onward.this_hop().to_node}});
  HeldPlaces::Place held = held_by(onward).take(upstream);
  const Place place = dialing_.insert(dialing_.end(), {std::move(setup), std::move(held), means_.clock.now(), nullptr});
  place->dial =
      std::make_unique<HopDial>(means_, std::move(onward), key_, [this, place](absl::StatusOr<OpenHop> downstream) {
        note_dial_ended(place->setup.setup(), downstream.status());
        dialed(place, std::move(downstream));
      });
  place->dial->start();
}

// Without this the source would wait for its own time limit.
void TransitSetups::lose_port(const PortLost& lost) {
  if (lost.only_rdma) return;  // a device that has failed ends its dials itself
  for (auto dialing = dialing_.begin(); dialing != dialing_.end();) {
    const CircuitSetup& setup = dialing->setup.setup();
    const HopEnd end = dialing_end(setup, setup.hop + std::size_t{1});
    // A flow's first circuit waits: there may be no other path, and the port may be back in time.
    const bool is_first = setup.purpose == SetupPurpose::kCircuit && setup.circuit == CircuitName{0, 1};
    if (is_first || !is_over(end, lost)) {
      ++dialing;
      continue;
    }
    const absl::Status reason = found_at(to_text(end), absl::UnavailableError(lost.reason));
    note_dial_ended(setup, reason);
    ArrivedSetup arrived = std::move(dialing->setup);
    dialing = dialing_.erase(dialing);
    refuse(std::move(arrived), reason);
  }
}

// Views are asked for often: their events would push all others out of the log.
void TransitSetups::note(EventCode code, const CircuitSetup& setup, absl::string_view what, EventFields more) {
  if (setup.purpose == SetupPurpose::kView) return;
  EventFields fields = circuit_fields(setup);
  fields.insert(fields.end(), more.begin(), more.end());
  events_.raise(code, absl::StrCat("set-up ", circuit_text(setup), what), std::move(fields));
}

void TransitSetups::note_dial_ended(const CircuitSetup& setup, const absl::Status& result) {
  if (setup.purpose == SetupPurpose::kView) return;
  events_.raise(EventCode::kDialEnded,
                absl::StrCat("set-up ", circuit_text(setup),
                             result.ok() ? " is open from here on" : absl::StrCat(" failed: ", reason_text(result))),
                result.ok() ? circuit_fields(setup) : circuit_fields(setup, result));
}

void TransitSetups::dialed(Place place, absl::StatusOr<OpenHop> downstream) {
  const ShareHolder from = place->held.holder();
  const Instant since = place->since;
  ArrivedSetup arrived = std::move(place->setup);
  HeldPlaces::Place held = std::move(place->held);
  dialing_.erase(place);
  if (!downstream.ok()) {
    const FailureScope scope =
        refused_for_room(downstream.status()) ? FailureScope::kBusy : scope_of(downstream.status());
    return refuse(std::move(arrived), downstream.status(), scope);
  }
  const CircuitSetup setup = arrived.setup();
  if (setup.purpose == SetupPurpose::kView) {
    const Instant deadline = since + std::chrono::milliseconds(setup.budget_ms);
    return documents_.send(std::move(arrived), downstream->document, std::move(held), deadline);
  }
  held = {};  // its place is that of the open circuit from here on
  if (setup.purpose == SetupPurpose::kInquiry) {
    return refuse(std::move(arrived), absl::InternalError(absl::StrCat("node ", setup.hops.back().to_node,
                                                                       " has accepted an inquiry as a circuit")));
  }
  // One of the two cables may have become doubtful while the next hop was dialed.
  if (const absl::Status status = host_.check_transit(setup); absl::IsUnavailable(status)) {
    return refuse(std::move(arrived), status);
  }
  std::unique_ptr<Slot> floor;
  const auto prepare = [&](const TransportEnd& upstream) -> absl::StatusOr<std::uint32_t> {
    absl::StatusOr<std::unique_ptr<Slot>> made = host_.make_floor(upstream, *downstream->transport.end);
    if (!made.ok()) {
      return absl::Status(made.status().code(),
                          absl::StrCat("node ", name_, " cannot relay another circuit: ", made.status().message()));
    }
    floor = *std::move(made);
    return std::min(downstream->chunk_bytes, floor->max_chunk_bytes());
  };
  absl::StatusOr<OpenHop> upstream = accept_hop(std::move(arrived), means_.transports, prepare);
  if (absl::IsCancelled(upstream.status())) return lost(setup, upstream.status());
  if (!upstream.ok()) return refused(setup, upstream.status());
  const absl::Status relayed = host_.relay(setup, *std::move(upstream), *std::move(downstream), std::move(floor));
  if (!relayed.ok()) return lost(setup, relayed);
  open_places_.emplace(addresses_of(setup), open_.take(from));
  events_.raise(EventCode::kCircuitOpened, absl::StrCat("circuit ", circuit_text(setup), " is open"),
                circuit_fields(setup));
}

void TransitSetups::circuit_ended(const CircuitSetup& setup) {
  // All circuits between two addresses count for one neighbour, unless another one has taken its place meanwhile.
  const auto open = open_places_.find(addresses_of(setup));
  if (open != open_places_.end()) open_places_.erase(open);
}

void TransitSetups::refuse(ArrivedSetup setup, const absl::Status& reason, FailureScope scope) {
  const CircuitSetup asked = setup.setup();
  std::move(setup).refuse(reason, scope);
  refused(asked, reason);
}

void TransitSetups::refused(const CircuitSetup& setup, const absl::Status& reason) {
  // The answer to an inquiry is always a refusal; that to a view is for the node that asked.
  if (setup.purpose != SetupPurpose::kCircuit) return;
  events_.raise(EventCode::kCircuitRefused,
                absl::StrCat("refused circuit ", circuit_text(setup), ": ", reason_text(reason)),
                circuit_fields(setup, reason));
  host_.refused(setup, reason);
}

void TransitSetups::lost(const CircuitSetup& setup, const absl::Status& reason) {
  events_.raise(EventCode::kCircuitLost, absl::StrCat("lost circuit ", circuit_text(setup), ": ", reason_text(reason)),
                circuit_fields(setup, reason));
  host_.lost(setup, reason);
}

}  // namespace cableway
