#include "nccl_adapter/comm/comm_circuits.h"

#include <utility>

#include "core/flow/chunk_link.h"

namespace cableway::nccl {

absl::Status CommCircuits::join(const CircuitSetup& setup, std::unique_ptr<host::HopLink> hop, HopEnd end,
                                std::uint32_t chunk_bytes) {
  const CircuitName& name = setup.circuit;
  Circuit& circuit = circuits_[name.slot];
  if (circuit.hop != nullptr) {
    if (circuit.name.generation >= name.generation) {
      return absl::FailedPreconditionError("a later circuit in its slot has joined the flow");
    }
    flow_.end_circuit(circuit.name, absl::UnavailableError("its source has replaced it"));
    if (!circuit.reported) replaced_.push_back(flow_.end_in(name.slot));
    memory_.circuit_ended(name.slot);
    memory_.detach(name.slot);
    take_socket(circuit);
  }
  circuit = {.name = name,
             .hop = std::move(hop),
             .end = std::move(end),
             .path = describe_path(setup),
             .preference = CircuitPreference::of(setup),
             .since = std::chrono::steady_clock::now()};
  absl::Status status = memory_.attach(name.slot, *circuit.hop);
  if (status.ok()) status = flow_.join(name, circuit.hop->link(), to_text(circuit.end), chunk_bytes);
  if (status.ok()) {
    ++joined_;
    if (stamps_ != nullptr) flow_.leaves_by(name, EgressPort(*stamps_, circuit.end.port));
    flow_.stripe(name, setup.bundle(), setup.share);
    return status;
  }
  circuit.hop->link().fail(status.message(), FailureScope::kCircuit);
  circuit.reported = true;
  return found_at(to_text(circuit.end), status);
}

const std::string& CommCircuits::path() const {
  const bool is_lost = flow_.live() == 0 && flow_.last_ended().generation != 0;
  return circuits_[is_lost ? flow_.last_ended().slot : flow_.carrier().slot].path;
}

void CommCircuits::note_ended() {
  for (const Circuit& circuit : circuits_) {
    if (circuit.hop != nullptr && !is_live(circuit)) memory_.circuit_ended(circuit.name.slot);
  }
}

void CommCircuits::check() {
  for (const Circuit& circuit : circuits_) {
    if (!is_live(circuit)) continue;
    if (absl::Status found = circuit.hop->check(); !found.ok()) flow_.end_circuit(circuit.name, found);
  }
}

void CommCircuits::look_at_connections() {
  for (const Circuit& circuit : circuits_) {
    if (is_live(circuit)) circuit.hop->on_readable(false);
  }
}

void CommCircuits::lose_port(const PortLost& lost) {
  for (Circuit& circuit : circuits_) {
    if (circuit.hop == nullptr || !is_over(circuit.end, lost)) continue;
    circuit.delivers = circuit.delivers && (lost.only_rdma || !lost.cable.empty());
    const bool uses_it = !lost.only_rdma || circuit.hop->registrar() != nullptr;
    if (is_live(circuit) && uses_it) flow_.end_circuit(circuit.name, absl::UnavailableError(lost.reason));
  }
}

std::array<CircuitName, kMaxFlowCircuits> CommCircuits::live() const {
  std::array<CircuitName, kMaxFlowCircuits> live;
  for (std::size_t slot = 0; slot < circuits_.size(); ++slot) {
    if (is_live(circuits_[slot])) live[slot] = circuits_[slot].name;
  }
  return live;
}

bool CommCircuits::needs_idle_polls() const {
  for (const Circuit& circuit : circuits_) {
    if (is_live(circuit) && circuit.hop->needs_idle_polls()) return true;
  }
  return false;
}

std::optional<CircuitName> CommCircuits::best() const {
  const auto now = std::chrono::steady_clock::now();
  const Circuit* best = nullptr;
  for (const Circuit& circuit : circuits_) {
    if (!is_live(circuit) || now - circuit.since < kProven) continue;
    if (best == nullptr || circuit.preference < best->preference) best = &circuit;
  }
  return best == nullptr ? std::nullopt : std::optional(best->name);
}

CommCircuits::Ended CommCircuits::take_ended() {
  Ended ended{{},
              std::exchange(replaced_, {}),
              flow_.last_end(),
              flow_.corruptions() - std::exchange(corruptions_, flow_.corruptions()),
              flow_.last_corruption()};
  for (Circuit& circuit : circuits_) {
    if (circuit.hop == nullptr || circuit.reported || is_live(circuit)) continue;
    circuit.reported = true;
    ended.circuits.push_back(circuit.name);
    ended.ends.push_back(flow_.end_in(circuit.name.slot));
  }
  return ended;
}

std::array<CountedEnd, kMaxFlowCircuits> CommCircuits::counted() const {
  std::array<CountedEnd, kMaxFlowCircuits> counted;
  for (std::size_t slot = 0; slot < counted.size(); ++slot) {
    const CircuitEnd& end = flow_.end_in(slot);
    counted[slot] = {end.circuit, end.counted, end.bytes_again};
  }
  return counted;
}

void CommCircuits::fail(const std::string& reason) {
  for (const Circuit& circuit : circuits_) {
    if (circuit.hop == nullptr) continue;
    is_live(circuit) ? circuit.hop->link().fail(reason, FailureScope::kFlow) : circuit.hop->link().fence();
  }
  // The flow's end refers to memory until its circuits have ended, and the application may take memory back before
  // that.
  for (const Circuit& circuit : circuits_) {
    if (is_live(circuit)) flow_.end_circuit(circuit.name, absl::CancelledError("the flow has ended"));
  }
}

void CommCircuits::end_all() {
  for (Circuit& circuit : circuits_) {
    if (circuit.hop == nullptr) continue;
    flow_.end_circuit(circuit.name, absl::CancelledError("this end has closed the flow"));
    take_socket(circuit);
    memory_.detach(circuit.name.slot);
    circuit.hop.reset();
  }
}

void CommCircuits::take_socket(Circuit& circuit) {
  host::UniqueFd socket = circuit.hop->take_socket();
  if (circuit.delivers) unused_sockets_.push_back(std::move(socket));
}

std::vector<host::UniqueFd> CommCircuits::take_sockets() {
  return std::exchange(unused_sockets_, {});
}

}  // namespace cableway::nccl
