#include "sim/simtest/flows/simtest_circuit.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/circuit/flow_proof.h"
#include "sim/simtest/ground/node_process.h"

namespace cableway::sim {
namespace {

// Half of what the plugin allows, so that more set-ups run out of time.
constexpr std::chrono::milliseconds kBudget{5000};

}  // namespace

SimtestCircuit::SimtestCircuit(SimtestGround& ground, std::size_t flow, std::size_t attempt, Source& source)
    : ground_(ground), flow_(ground.plan.flows[flow]), source_(source) {
  setup_.flow = flow;
  setup_.nonce[0] = static_cast<std::byte>(attempt & 0xFF);
  setup_.nonce[1] = static_cast<std::byte>(attempt >> 8);
  setup_.nonce[2] = static_cast<std::byte>(flow);
  setup_.chunk_bytes = flow_.chunk_bytes;
  setup_.budget_ms = static_cast<std::uint32_t>(kBudget.count());
  setup_.from_node = SimtestGround::name(flow_.source);
}

Cookie SimtestCircuit::cookie_of(std::uint64_t flow) {
  Cookie cookie{};
  for (std::size_t i = 0; i < cookie.size(); ++i) cookie[i] = static_cast<std::byte>(flow * 31 + i);
  return cookie;
}

std::size_t SimtestCircuit::attempt_of(const CircuitSetup& setup) {
  return static_cast<std::size_t>(setup.nonce[0]) | static_cast<std::size_t>(setup.nonce[1]) << 8;
}

absl::Status SimtestCircuit::check_budget(const CircuitSetup& setup) const {
  auto most = kBudget.count();
  for (std::size_t relay = 0; relay < setup.hop; ++relay) most -= most / 10;
  const Duration since = ground_.clock().now() - dialed_at_;
  // The relays' tenths cover the latency of the cables.
  if (setup.hop > 0 && !may_have_been_held()) {
    most = std::min(most, (kBudget - std::chrono::floor<std::chrono::milliseconds>(since)).count());
  }
  if (setup.budget_ms <= most) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "set-up ", describe_path(setup), " arrives with ", setup.budget_ms, " ms, ",
      std::chrono::floor<std::chrono::milliseconds>(since).count(),
      " ms after it was dialed, but each relay reserves a tenth and subtracts its wait: expected at most ", most));
}

// Whether a silent cable of the path has held a set-up back since this one was dialed, as TCP does until it
// retransmits. No node can subtract that time.
bool SimtestCircuit::may_have_been_held() const {
  return std::any_of(setup_.hops.begin(), setup_.hops.end(), [&](const Hop& hop) {
    const std::optional<CablePlant::End> from = ground_.plant.find(hop.from_address);
    return from.has_value() && ground_.plant.held_setup_since(from->segment, dialed_at_);
  });
}

void SimtestCircuit::set_up() {
  state_ = State::kAsking;
  NodeProcess& node = *ground_.processes[flow_.source];
  if (node.door() == nullptr) return fail(absl::UnavailableError("no node runs here"));
  node.find_path(SimtestGround::name(flow_.destination), flow_.ordinal, [this](absl::StatusOr<std::vector<Hop>> hops) {
    if (state_ == State::kAsking) have_path(std::move(hops));
  });
}

void SimtestCircuit::have_path(absl::StatusOr<std::vector<Hop>> hops) {
  if (!hops.ok()) return fail(hops.status());
  setup_.hops = *std::move(hops);
  setup_.hops.back().to_port = kApplicationPort;
  if (absl::Status status = check_path(); !status.ok()) {
    ground_.rules.broken(3, std::string(status.message()));
    return fail(status);
  }
  add_flow_proof(cookie_of(setup_.flow), setup_);
  state_ = State::kDialing;
  dialed_at_ = ground_.clock().now();
  dial_ = std::make_unique<HopDial>(ground_.means_of(flow_.source), setup_, ground_.tools.key,
                                    [this](absl::StatusOr<OpenHop> hop) { dialed(std::move(hop)); });
  dial_->start();
}

// Checks with the source's topology that the path leads to the destination, visits no node twice and crosses no
// draining node.
absl::Status SimtestCircuit::check_path() const {
  const routing::Topology& topology = ground_.nodes.node(flow_.source).paths().topology();
  const auto wrong = [&](const std::string& what) {
    return absl::InternalError(absl::StrCat("path ", describe_path(setup_), " ", what));
  };
  if (setup_.hops.back().to_node != SimtestGround::name(flow_.destination))
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
      return wrong("has a node or cable that its source does not have");
    if (&hop != &setup_.hops.back() && topology.node(*there).draining) {
      return wrong(absl::StrCat("leads through ", hop.to_node, ", which is draining"));
    }
    if (!ground_.plant.find(hop.from_address).has_value() || !ground_.plant.find(hop.to_address).has_value()) {
      return wrong("has an address that no port has");
    }
    at = hop.to_node;
  }
  return absl::OkStatus();
}

void SimtestCircuit::dialed(absl::StatusOr<OpenHop> hop) {
  if (!hop.ok()) return fail(hop.status());
  state_ = State::kOpen;
  const std::uint32_t chunk_bytes = hop->chunk_bytes;
  source_.open(take_hop(std::move(hop->connection)).source_end(), chunk_bytes);
}

void SimtestCircuit::abandon(const absl::Status& reason) {
  if (state_ == State::kAsking || state_ == State::kDialing) fail(reason);
}

void SimtestCircuit::node_ended(std::size_t node) {
  if (state_ == State::kAsking && node == flow_.source) fail(absl::UnavailableError("no node runs here any more"));
}

void SimtestCircuit::fail(const absl::Status& reason) {
  state_ = State::kOver;
  dial_.reset();
  source_.refused(reason);
}

}  // namespace cableway::sim
