#include "core/circuit/transit_setups.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/circuit/circuit_events.h"
#include "core/circuit/hop_names.h"

namespace cableway {
namespace {

// The budget for the rest of the path: the remaining time less a tenth of the set-up's budget, which is for the
// answer to travel back. The next nodes must give up before this one's peer does.
std::uint32_t onward_budget_ms(std::uint32_t budget_ms, Duration waited) {
  const auto waited_ms = std::chrono::ceil<std::chrono::milliseconds>(waited).count();
  const std::int64_t left = std::int64_t{budget_ms} - budget_ms / 10 - waited_ms;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(left, 1));
}

}  // namespace

std::size_t TransitSetups::inquiries(const std::function<bool(const CircuitSetup&)>& which) const {
  const auto counts = [&](const auto& pending) {
    const CircuitSetup& setup = pending.setup.setup();
    return setup.purpose == SetupPurpose::kInquiry && which(setup);
  };
  return static_cast<std::size_t>(std::count_if(waiting_.begin(), waiting_.end(), counts) +
                                  std::count_if(dialing_.begin(), dialing_.end(), counts));
}

std::size_t TransitSetups::inquiries() const {
  return inquiries([](const CircuitSetup&) { return true; });
}

absl::Status TransitSetups::check_room(const CircuitSetup& setup) const {
  if (setup.purpose == SetupPurpose::kInquiry) {
    const std::string& cable = setup.this_hop().cable;
    if (inquiries([&](const CircuitSetup& other) { return other.this_hop().cable == cable; }) < kMaxInquiries) {
      return absl::OkStatus();
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("node ", name_, " already passes on ", kMaxInquiries, " inquiries from cable ", cable));
  }
  const std::size_t taken = host_.circuits() + in_setup();
  if (taken >= host_.max_circuits()) return host_.no_room(in_setup());
  if (!setup.further || taken < host_.max_circuits() / 2) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("node ", name_, " relays ", host_.circuits(),
                                                   " circuits, and keeps the rest of its ", host_.max_circuits(),
                                                   " places for first circuits and those that replace others"));
}

void TransitSetups::arrived(ArrivedSetup setup) {
  events_.raise(EventCode::kSetupArrived, absl::StrCat("set-up ", circuit_text(setup.setup()), " has arrived"),
                circuit_fields(setup.setup()));
  const absl::Status status = host_.check_transit(setup.setup());
  const Instant now = means_.clock.now();
  if (status.ok()) return dial_onward(std::move(setup), now);
  // The source's topology may be newer than this node's, after a node has started or a cable was plugged in.
  if (!absl::IsNotFound(status)) return refuse(std::move(setup), status);
  if (waiting_.size() == kMaxWaiting) {
    return refuse(std::move(setup), absl::ResourceExhaustedError(
                                        absl::StrCat("node ", name_, " already has ", kMaxWaiting,
                                                     " set-ups that wait for the topology; last: ", status.message())));
  }
  if (absl::Status room = check_room(setup.setup()); !room.ok()) return refuse(std::move(setup), room);
  const auto budget = std::chrono::milliseconds(setup.setup().budget_ms);
  const Instant deadline = now + std::min<Duration>(budget / 2, kTransitLimit);
  events_.raise(EventCode::kSetupWaiting,
                absl::StrCat("set-up ", circuit_text(setup.setup()), " waits for the topology: ", status.message()),
                circuit_fields(setup.setup(), status));
  waiting_.push_back({std::move(setup), now, deadline});
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
    status.ok() ? dial_onward(std::move(setup), arrived) : refuse(std::move(setup), status);
  }
  deadline_.reset();
  // Earlier changes arrive through topology_changed().
  const auto first = std::min_element(waiting_.begin(), waiting_.end(),
                                      [](const auto& a, const auto& b) { return a.deadline < b.deadline; });
  if (first == waiting_.end()) return;
  deadline_ = means_.clock.call_at(first->deadline, [this] { check_waiting(); });
}

void TransitSetups::dial_onward(ArrivedSetup setup, Instant arrived) {
  if (absl::Status room = check_room(setup.setup()); !room.ok()) return refuse(std::move(setup), room);
  CircuitSetup onward = setup.setup();
  ++onward.hop;
  onward.budget_ms = onward_budget_ms(onward.budget_ms, means_.clock.now() - arrived);
  if (onward.purpose == SetupPurpose::kInquiry) {
    onward.budget_ms = std::min(onward.budget_ms, static_cast<std::uint32_t>(kInquiryLimit.count()));
  }
  EventFields fields = circuit_fields(onward);
  fields.push_back({"cable", onward.this_hop().cable});
  fields.push_back({"neighbour", onward.this_hop().to_node});
  events_.raise(EventCode::kDialStarted,
                absl::StrCat("set-up ", circuit_text(onward), " dials node ", onward.this_hop().to_node, " over cable ",
                             onward.this_hop().cable),
                std::move(fields));
  const Place place = dialing_.insert(dialing_.end(), {std::move(setup), nullptr});
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

void TransitSetups::note_dial_ended(const CircuitSetup& setup, const absl::Status& result) {
  events_.raise(EventCode::kDialEnded,
                absl::StrCat("set-up ", circuit_text(setup),
                             result.ok() ? " is open from here on" : absl::StrCat(" failed: ", reason_text(result))),
                result.ok() ? circuit_fields(setup) : circuit_fields(setup, result));
}

void TransitSetups::dialed(Place place, absl::StatusOr<OpenHop> downstream) {
  ArrivedSetup arrived = std::move(place->setup);
  dialing_.erase(place);
  if (!downstream.ok()) return refuse(std::move(arrived), downstream.status(), scope_of(downstream.status()));
  const CircuitSetup setup = arrived.setup();
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
  events_.raise(EventCode::kCircuitOpened, absl::StrCat("circuit ", circuit_text(setup), " is open"),
                circuit_fields(setup));
}

void TransitSetups::refuse(ArrivedSetup setup, const absl::Status& reason, FailureScope scope) {
  const CircuitSetup asked = setup.setup();
  std::move(setup).refuse(reason, scope);
  refused(asked, reason);
}

void TransitSetups::refused(const CircuitSetup& setup, const absl::Status& reason) {
  // The answer to an inquiry is always a refusal.
  if (setup.purpose == SetupPurpose::kInquiry) return;
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
