#include "sim/trial/trial_circuit.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/hop_names.h"

namespace cableway::sim {
namespace {

constexpr std::chrono::milliseconds kBudget{5000};
constexpr std::chrono::milliseconds kAgainAfter{50};
constexpr std::chrono::microseconds kHandOver{50};  // of a process that takes a set-up, or an answer, and passes it on

}  // namespace

void TrialCircuit::after(Duration time, void (TrialCircuit::*step)(std::size_t), std::size_t hop) {
  ground_.clock().post_at(ground_.clock().now() + time, [this, step, hop] {
    if (state_ == State::kSettingUp) (this->*step)(hop);
  });
}

void TrialCircuit::again_later(void (TrialCircuit::*step)(std::size_t), std::size_t hop, const absl::Status& reason) {
  if (ground_.clock().now() >= deadline_) return fail(reason);
  after(kAgainAfter, step, hop);
}

void TrialCircuit::set_up() {
  state_ = State::kSettingUp;
  deadline_ = ground_.clock().now() + kBudget;
  if (absl::Status status = find_path(); !status.ok()) return fail(status);
  go_on(0);
}

absl::Status TrialCircuit::find_path() {
  if (!ground_.nodes.runs(flow_.source)) return absl::UnavailableError("no node runs here");
  const PathPlanner& paths = ground_.nodes.node(flow_.source).paths();
  absl::StatusOr<std::vector<Hop>> hops = paths.path_for_flow(TrialGround::name(flow_.destination), flow_.ordinal);
  if (!hops.ok()) return hops.status();
  setup_.flow = flow_.ordinal;
  setup_.chunk_bytes = flow_.chunk_bytes;
  setup_.budget_ms = static_cast<std::uint32_t>(kBudget.count());
  setup_.from_node = TrialGround::name(flow_.source);
  setup_.hops = *std::move(hops);
  setup_.hops.back().to_port = 20000;
  if (absl::Status status = check_path(); !status.ok()) {
    ground_.rules.broken(3, std::string(status.message()));
    return status;
  }
  return place_hops();
}

// By what the source itself knows: it leads to the destination, through no node twice and through none that drains.
absl::Status TrialCircuit::check_path() const {
  const routing::Topology& topology = ground_.nodes.node(flow_.source).paths().topology();
  const auto wrong = [&](const std::string& what) {
    return absl::InternalError(absl::StrCat("path ", describe_path(setup_), " ", what));
  };
  if (setup_.hops.back().to_node != TrialGround::name(flow_.destination))
    return wrong("does not lead to its destination");
  if (flow_.source == flow_.destination) return absl::OkStatus();
  std::set<std::string> seen{setup_.from_node};
  std::string at = setup_.from_node;
  for (const Hop& hop : setup_.hops) {
    if (!seen.insert(hop.to_node).second) return wrong(absl::StrCat("visits ", hop.to_node, " twice"));
    const auto cable = topology.find_cable(hop.cable);
    const auto here = topology.find_node(at);
    const auto there = topology.find_node(hop.to_node);
    if (!cable.has_value() || !here.has_value() || !there.has_value())
      return wrong("names what its source does not know");
    if (&hop != &setup_.hops.back() && topology.node(*there).draining) {
      return wrong(absl::StrCat("leads through ", hop.to_node, ", which drains"));
    }
    at = hop.to_node;
  }
  return absl::OkStatus();
}

absl::Status TrialCircuit::place_hops() {
  nodes_ = {flow_.source};
  if (flow_.source == flow_.destination) {
    nodes_.push_back(flow_.destination);
    return absl::OkStatus();
  }
  for (const Hop& hop : setup_.hops) {
    const std::optional<CablePlant::End> from = ground_.plant.find(hop.from_address);
    const std::optional<CablePlant::End> to = ground_.plant.find(hop.to_address);
    std::size_t node = 0;
    if (!from.has_value() || !to.has_value() || !absl::SimpleAtoi(hop.to_node.substr(1), &node)) {
      ground_.rules.broken(3, absl::StrCat("path ", describe_path(setup_), " has an address that no port has"));
      return absl::InternalError("no such address");
    }
    from_.push_back(*from);
    to_.push_back(*to);
    nodes_.push_back(node);
  }
  return absl::OkStatus();
}

void TrialCircuit::go_on(std::size_t hop) {
  const bool local = flow_.source == flow_.destination;
  if (!local && !ground_.plant.connects(from_[hop], to_[hop])) {
    return again_later(&TrialCircuit::go_on, hop,
                       absl::UnavailableError(absl::StrCat("node ", TrialGround::name(nodes_[hop]),
                                                           " cannot connect to ", TrialGround::name(nodes_[hop + 1]))));
  }
  offered_ = local ? nullptr : ground_.plant.offer(from_[hop]);
  setup_.rdma.reset();
  if (offered_ != nullptr) setup_.rdma = offered_->endpoint();
  after(ground_.plant.facts().latency + kHandOver, &TrialCircuit::arrive, hop);
}

void TrialCircuit::arrive(std::size_t hop) {
  setup_.hop = static_cast<std::uint16_t>(hop);
  if (!setup_.last_hop()) return arrive_at_relay(hop);
  const bool local = flow_.source == flow_.destination;
  PlantHop& last = local ? ground_.plant.make_local_hop(flow_.source)
                         : ground_.plant.make_hop(from_[hop], to_[hop], std::move(offered_));
  hops_.push_back(&last);
  if (absl::Status status = join(hop); !status.ok()) return fail(status);
  // Where it answers without a queue pair, the connection is all there is.
  const PlantEnd end =
      answer_.rdma.has_value() ? last.destination_end() : PlantEnd{last.hop->destination(), last.destination};
  if (absl::Status status = ends_.accept(end); !status.ok()) return fail(status);
  after(ground_.plant.facts().latency + kHandOver, &TrialCircuit::answer, hop);
}

void TrialCircuit::arrive_at_relay(std::size_t hop) {
  const absl::Status status = relay_says(hop);
  if (absl::IsUnavailable(status) || absl::IsNotFound(status)) {
    return again_later(&TrialCircuit::arrive_at_relay, hop, status);
  }
  if (!status.ok()) return fail(status);
  hops_.push_back(&ground_.plant.make_hop(from_[hop], to_[hop], std::move(offered_)));
  go_on(hop + 1);
}

// Unavailable: its process does not run; NotFound: it may hear of what the set-up names.
absl::Status TrialCircuit::relay_says(std::size_t hop) {
  const std::size_t node = nodes_[hop + 1];
  const TrialHost& host = ground_.hosts[node];
  if (!ground_.nodes.runs(node)) return absl::UnavailableError("nobody listens at " + TrialGround::name(node));
  const absl::StatusOr<CircuitSetup> read = decode_circuit_setup(encode_circuit_setup(setup_));
  if (!read.ok() || *read != setup_) {
    ground_.rules.broken(7, "a set-up is not read as it was written");
    return absl::InternalError("a set-up is not read as it was written");
  }
  if (absl::Status status = ground_.nodes.node(node).paths().check_transit(*read); !status.ok()) return status;
  if (host.refuses || host.relay->circuits() >= ground_.plan.most_circuits) {
    return absl::ResourceExhaustedError(TrialGround::name(node) + " relays as many circuits as it has memory for");
  }
  return absl::OkStatus();
}

// The answer has come over `hop`, from its far end to its near one.
void TrialCircuit::answer(std::size_t hop) {
  if (hops_[hop]->silent_since.has_value()) {
    return again_later(&TrialCircuit::answer, hop, absl::UnavailableError("no answer to the set-up came"));
  }
  if (absl::Status status = settle(hop); !status.ok()) return fail(status);
  if (hop == 0) {
    state_ = State::kOpen;
    return ends_.open(hops_[0]->source_end());
  }
  if (!ground_.nodes.runs(nodes_[hop])) return fail(absl::UnavailableError("a relay of the set-up has ended"));
  if (absl::Status status = join(hop - 1); !status.ok()) return fail(status);
  add_relay(hop);
  after(ground_.plant.facts().latency + kHandOver, &TrialCircuit::answer, hop - 1);
}

// The far end of `hop` makes its queue pair, if one was offered and its port has a device.
absl::Status TrialCircuit::join(std::size_t hop) {
  absl::StatusOr<SetupAnswer> joined = ground_.plant.join(*hops_[hop], hop + 1 == setup_.hops.size());
  if (!joined.ok()) return joined.status();
  answer_ = *joined;
  const std::vector<std::byte> bytes = encode_setup_answer(answer_);
  const absl::StatusOr<Frame> header = decode_frame(std::span(bytes).first<kFrameHeaderBytes>());
  if (header.ok()) joined = decode_setup_answer(*header, std::span(bytes).subspan(kFrameHeaderBytes));
  if (header.ok() && joined.ok() && *joined == answer_) return absl::OkStatus();
  ground_.rules.broken(7, "the answer to a set-up is not read as it was written");
  return absl::InternalError("the answer to a set-up is not read as it was written");
}

// Its near end takes the answer.
absl::Status TrialCircuit::settle(std::size_t hop) {
  if (answer_.rdma.has_value()) ground_.trace.add("rdma");
  return ground_.plant.settle(*hops_[hop], answer_);
}

// From hop - 1 to hop, at the node between them.
void TrialCircuit::add_relay(std::size_t hop) {
  PlantHop& upstream = *hops_[hop - 1];
  PlantHop& downstream = *hops_[hop];
  RelayNames names{to_text(accepting_end(setup_, hop - 1)), to_text(dialing_end(setup_, hop))};
  const PlantEnd from = answer_.rdma.has_value() ? upstream.destination_end()
                                                 : PlantEnd{upstream.hop->destination(), upstream.destination};
  const PlantEnd to = downstream.source_end();
  relays_.push_back(Relay{nodes_[hop], relay_between(from, to, hop, std::move(names)), false});
  upstream.destination.set(relays_.back().circuit.get());
  downstream.source.set(relays_.back().circuit.get());
  relays_.back().circuit->wake();
}

// With registered slots if one of the hops, or both, goes over RDMA.
std::unique_ptr<RelayedCircuit> TrialCircuit::relay_between(const PlantEnd& from, const PlantEnd& to, std::size_t hop,
                                                            RelayNames names) {
  TrialHost& host = ground_.hosts[nodes_[hop]];
  if (from.device == nullptr && to.device == nullptr) return host.relay->add(from.link, to.link, std::move(names));
  const auto number = [&](const StubDevice* device, const CablePlant::End& port) -> std::optional<std::size_t> {
    if (device == nullptr) return std::nullopt;
    return ground_.plant.rdma_ports().find(port.segment, port.end)->number;
  };
  std::unique_ptr<Slot> floor = host.rdma->make_floor(number(from.device, to_[hop - 1]), number(to.device, from_[hop]));
  return host.relay->add(from.link, to.link, std::move(floor), host.rdma->pool(), std::move(names));
}

void TrialCircuit::abandon(const absl::Status& reason) {
  if (state_ == State::kSettingUp) fail(reason);
}

void TrialCircuit::fail(const absl::Status& reason) {
  state_ = State::kOver;
  offered_.reset();
  for (PlantHop* hop : hops_) {
    if (hop->rdma != nullptr) hop->rdma->abandon();
    hop->hop->cut(absl::UnavailableError("the set-up was given up"));
    hop->source.wake();
    hop->destination.wake();
  }
  ends_.refused(reason);
}

void TrialCircuit::node_ended(std::size_t node) {
  const auto place = std::find(nodes_.begin(), nodes_.end(), node);
  const bool between = place != nodes_.end() && place != nodes_.begin() && place + 1 != nodes_.end();
  if (!between) return;
  const auto reached = static_cast<std::size_t>(place - nodes_.begin());
  if (state_ == State::kSettingUp && hops_.size() >= reached) {
    return fail(absl::UnavailableError("relay " + TrialGround::name(node) + " has ended"));
  }
  for (Relay& relay : relays_) {
    if (relay.node != node || relay.forgotten) continue;
    // Its kernel closes both connections.
    hops_[reached - 1]->destination.kill_process();
    hops_[reached]->source.kill_process();
    relay.circuit->circuit().fail(absl::CancelledError("the peer closed the connection"));
    ground_.hosts[node].relay->remove(*relay.circuit);
    relay.forgotten = true;
  }
}

void TrialCircuit::tend() {
  for (Relay& relay : relays_) {
    if (relay.forgotten || relay.circuit->status().ok()) continue;
    const absl::StatusCode code = relay.circuit->status().code();
    if (code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kInternal) {
      ground_.rules.broken(7, std::string(relay.circuit->status().message()));
    }
    ground_.hosts[relay.node].relay->remove(*relay.circuit);
    relay.forgotten = true;
  }
}

std::size_t TrialCircuit::relays() const {
  return static_cast<std::size_t>(
      std::count_if(relays_.begin(), relays_.end(), [](const Relay& relay) { return !relay.forgotten; }));
}

}  // namespace cableway::sim
