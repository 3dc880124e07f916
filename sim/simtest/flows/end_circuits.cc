#include "sim/simtest/flows/end_circuits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flow/chunk_link.h"

namespace cableway::sim {

absl::Status EndCircuits::join(const CircuitSetup& setup, PlantHop& hop, std::uint32_t chunk_bytes, Instant now) {
  const CircuitName name = setup.circuit;
  const PlantEnd end = lands_ ? hop.destination_end() : hop.source_end();
  HopEnd hop_end = lands_ ? accepting_end(setup, setup.hop) : dialing_end(setup, setup.hop);
  const std::string where = to_text(hop_end);
  end.user.set(&user_);
  Circuit& circuit = circuits_[name.slot];
  if (circuit.end.has_value()) {
    if (circuit.name.generation >= name.generation) {
      end.link.fail("a later circuit in its slot has joined the flow", FailureScope::kCircuit);
      return absl::InternalError(absl::StrCat("generation ", name.generation, " in slot ", name.slot,
                                              " may join after generation ", circuit.name.generation));
    }
    flow_.end_circuit(circuit.name, absl::UnavailableError("its source has replaced it"));
    moved_before_ += circuit.end->link.bytes_moved();
  }
  circuit.name = name;
  circuit.preference = CircuitPreference::of(setup);
  circuit.since = now;
  circuit.hop_end = std::move(hop_end);
  circuit.share = setup.share;
  circuit.path = setup.hops;
  circuit.end.emplace(end);
  ChunkLink& link = links_.emplace_back(
      end.link,
      [this, name](const Frame& frame) {
        if (frame.kind == FrameKind::kChunk) watch_.gives(name, frame);
      },
      [this, name](const Frame& frame) { watch_.takes(name, frame); });
  circuit.reported = false;
  attach_(name.slot, end.device);
  absl::Status status = flow_.join(name, link, where, chunk_bytes);
  if (status.ok()) {
    if (!lands_) flow_.leaves_by(name, EgressPort(stamps_, circuit.hop_end.port));
    flow_.stripe(name, setup.bundle(), setup.share);
    return status;
  }
  end.link.fail(status.message(), FailureScope::kCircuit);
  circuit.reported = true;
  return found_at(where, status);
}

std::array<StubDevice*, kMaxFlowCircuits> EndCircuits::devices() const {
  std::array<StubDevice*, kMaxFlowCircuits> devices{};
  for (std::size_t slot = 0; slot < circuits_.size(); ++slot) {
    if (circuits_[slot].end.has_value()) devices[slot] = circuits_[slot].end->device;
  }
  return devices;
}

std::uint64_t EndCircuits::bytes_moved() const {
  std::uint64_t sum = moved_before_;
  for (const Circuit& circuit : circuits_) {
    if (circuit.end.has_value()) sum += circuit.end->link.bytes_moved();
  }
  return sum;
}

std::optional<CircuitName> EndCircuits::first_live() const {
  for (const Circuit& circuit : circuits_) {
    if (is_live(circuit)) return circuit.name;
  }
  return std::nullopt;
}

void EndCircuits::lose_port(const PortLost& lost) {
  for (const Circuit& circuit : circuits_) {
    if (!is_live(circuit) || !is_over(circuit.hop_end, lost)) continue;
    flow_.end_circuit(circuit.name, absl::UnavailableError(lost.reason));
  }
}

bool EndCircuits::is_live_over(const PortLost& cable) const {
  return std::any_of(circuits_.begin(), circuits_.end(),
                     [&](const Circuit& circuit) { return is_live(circuit) && is_over(circuit.hop_end, cable); });
}

const std::vector<Hop>* EndCircuits::live_path_over(const std::string& cable) const {
  for (const Circuit& circuit : circuits_) {
    const bool leads =
        std::any_of(circuit.path.begin(), circuit.path.end(), [&](const Hop& hop) { return hop.cable == cable; });
    if (leads && is_live(circuit)) return &circuit.path;
  }
  return nullptr;
}

std::vector<std::pair<CircuitName, const std::vector<Hop>*>> EndCircuits::live_paths() const {
  std::vector<std::pair<CircuitName, const std::vector<Hop>*>> paths;
  for (const Circuit& circuit : circuits_) {
    if (is_live(circuit)) paths.emplace_back(circuit.name, &circuit.path);
  }
  return paths;
}

std::optional<CircuitName> EndCircuits::best(Instant now) const {
  const Circuit* best = nullptr;
  for (const Circuit& circuit : circuits_) {
    if (!is_live(circuit) || now - circuit.since < kProven) continue;
    if (best == nullptr || circuit.preference < best->preference) best = &circuit;
  }
  return best == nullptr ? std::nullopt : std::optional(best->name);
}

std::vector<CircuitName> EndCircuits::take_ended() {
  std::vector<CircuitName> ended;
  for (Circuit& circuit : circuits_) {
    if (!circuit.end.has_value() || circuit.reported || is_live(circuit)) continue;
    circuit.reported = true;
    ended.push_back(circuit.name);
  }
  return ended;
}

void EndCircuits::end_all(const absl::Status& reason) {
  for (const Circuit& circuit : circuits_) {
    if (!is_live(circuit)) continue;
    const bool tells = !reason.ok() && !absl::IsCancelled(reason);
    if (tells) circuit.end->link.fail(reason.message(), FailureScope::kFlow);
    flow_.end_circuit(circuit.name, absl::CancelledError("this end has closed the flow"));
  }
}

void EndCircuits::kill_process() {
  for (const Circuit& circuit : circuits_) {
    if (circuit.end.has_value()) circuit.end->user.kill_process();
  }
}

}  // namespace cableway::sim
