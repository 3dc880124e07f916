#include "sim/simtest/flows/flow_attempt.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/circuit/flow_proof.h"
#include "sim/simtest/ground/node_process.h"
#include "sim/simtest/ground/setup_wire.h"

namespace cableway::sim {
namespace {

FlowIdentity identity_of(const FlowAttempt::Applications& applications, std::size_t number) {
  FlowIdentity identity;
  identity.cookie = applications.admission.cookie();
  identity.nonce[0] = static_cast<std::byte>(number & 0xFF);
  identity.nonce[1] = static_cast<std::byte>(number >> 8);
  identity.nonce[2] = static_cast<std::byte>(applications.flow);
  identity.flow = applications.flow;
  identity.source_node = SimtestGround::name(applications.plan.source);
  identity.source_port = kApplicationPort;
  identity.destination_node = SimtestGround::name(applications.plan.destination);
  identity.destination_port = kApplicationPort;
  identity.ordinal = applications.plan.ordinal;
  return identity;
}

}  // namespace

FlowAttempt::FlowAttempt(const Applications& applications, std::size_t number, std::size_t first)
    : applications_(applications),
      first_(first),
      began_(applications.ground.clock().now()),
      identity_(identity_of(applications, number)),
      source_(place(applications.plan.source), first,
              [this](const CircuitName& circuit) {
                return destination_ != nullptr && !destination_->over() && destination_->is_live(circuit);
              }),
      lost_an_application_(!applications.destination_lives) {}

FlowEnd::Place FlowAttempt::place(std::size_t node) const {
  return {applications_.ground, applications_.plan, applications_.records, identity_, applications_.flow, node};
}

void FlowAttempt::arrived(ArrivedSetup setup) {
  if (setup.setup().purpose == SetupPurpose::kInquiry) return answer_inquiry(std::move(setup));
  if (const absl::Status budget = source_.check_budget(setup.setup()); !budget.ok()) {
    applications_.ground.rules.broken(5, std::string(budget.message()));
  }
  destination_knows() ? join_flow(std::move(setup)) : begin_flow(std::move(setup));
}

bool FlowAttempt::destination_knows() const {
  const bool has_flow = destination_ != nullptr && (!destination_->over() || destination_->answers_after_close());
  return has_flow && applications_.destination_lives;
}

void FlowAttempt::answer_inquiry(ArrivedSetup inquiry) {
  if (!verify_flow_proof(identity_.cookie, inquiry.setup())) {
    applications_.ground.rules.broken(7, absl::StrCat("an inquiry of flow ", identity_.flow, " has no proof"));
  }
  const bool asks_source = inquiry.setup().from_node == identity_.destination_node;
  const bool known = asks_source ? !source_.over() : destination_knows();
  if (known && asks_source) source_.asked();
  std::move(inquiry).refuse(
      absl::UnavailableError(known ? "the flow is open here" : "the process no longer has this flow"),
      known ? FailureScope::kCircuit : FailureScope::kFlow);
}

void FlowAttempt::begin_flow(ArrivedSetup setup) {
  const CircuitSetup begins = setup.setup();
  const absl::Status admitted = applications_.admission.admit(begins);
  // An application that has given the flow up has no way to begin it again.
  if (destination_ != nullptr || !applications_.destination_lives || source_.over()) {
    return std::move(setup).refuse(absl::NotFoundError("no listener at the destination"), FailureScope::kFlow);
  }
  if (!admitted.ok()) {
    applications_.ground.rules.broken(7, std::string(admitted.message()));
    return std::move(setup).refuse(admitted, FailureScope::kFlow);
  }
  destination_ = std::make_unique<DestinationEnd>(place(applications_.plan.destination), first_);
  join_flow(std::move(setup));
  if (destination_->joined() == 0) return destination_.reset();
  applications_.admission.begun(begins);
}

void FlowAttempt::join_flow(ArrivedSetup arrived) {
  const CircuitSetup setup = arrived.setup();
  if (!verify_flow_proof(identity_.cookie, setup)) {
    applications_.ground.rules.broken(7, absl::StrCat("a set-up of flow ", identity_.flow, " has no proof"));
  }
  if (!destination_->may_join(setup.circuit)) {
    return std::move(arrived).refuse(absl::PermissionDeniedError("the set-up is a copy of an earlier one"),
                                     FailureScope::kCircuit);
  }
  absl::StatusOr<OpenHop> hop = accept_hop(std::move(arrived), applications_.ground.tools.transports, {});
  if (!hop.ok()) return;
  PlantHop& last_hop = hop_of(*hop->connection);
  if (destination_->over()) {
    destination_->answer_after_close(setup, *std::move(hop));
  } else {
    // Its refusal has been sent, and the source tries again.
    destination_->join(setup, *std::move(hop)).IgnoreError();
  }
  if (applications_.answers_are_lost) {
    applications_.ground.plant.end_connection(last_hop, absl::UnavailableError("the cable has lost its carrier"));
  }
}

void FlowAttempt::kill_source() {
  lost_an_application_ = lost_an_application_ || !source_.over();
  source_.die();
}

void FlowAttempt::kill_destination() {
  lost_an_application_ = lost_an_application_ || !over();
  if (destination_ != nullptr) destination_->die();
}

void FlowAttempt::misjudge(std::uint64_t by) {
  if (by != 1) source_.misjudge();
  if (by != 0 && destination_ != nullptr) destination_->misjudge();
}

void FlowAttempt::lose_port(std::size_t node, const PortLost& lost) {
  if (applications_.plan.source == node) source_.lose_port(lost);
  if (applications_.plan.destination == node && destination_ != nullptr) destination_->lose_port(lost);
}

bool FlowAttempt::is_live_over(std::size_t node, const PortLost& cable) const {
  return (applications_.plan.source == node && source_.is_live_over(cable)) ||
         (applications_.plan.destination == node && destination_ != nullptr && destination_->is_live_over(cable));
}

void FlowAttempt::check_memory() {
  if (destination_ != nullptr) destination_->check_memory();
}

bool FlowAttempt::found_no_room() const {
  return absl::StrContains(source_.reason().message(), kNoRoom);
}

bool FlowAttempt::found_no_path() const {
  constexpr char kNoPath[] = "; no other path to node ";
  return absl::StrContains(source_.reason().message(), kNoPath) ||
         (destination_ != nullptr && absl::StrContains(destination_->reason().message(), kNoPath));
}

}  // namespace cableway::sim
