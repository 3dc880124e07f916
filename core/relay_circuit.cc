#include "core/relay_circuit.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

constexpr std::uint64_t kBytesPerTurn = 8U << 20;

}  // namespace

RelayCircuit::RelayCircuit(ChunkLink& upstream, ChunkLink& downstream, std::vector<std::unique_ptr<Slot>> slots,
                           RelayNames names)
    : upstream_(upstream),
      downstream_(downstream),
      names_(std::move(names)),
      slots_(std::move(slots)),
      waiting_(slots_.size()) {
  for (const std::unique_ptr<Slot>& slot : slots_) upstream_.post_slot(*slot);
}

std::size_t RelayCircuit::slots_in_use() const {
  return in_use_;
}

absl::StatusOr<bool> RelayCircuit::progress() {
  const std::uint64_t begin = bytes_moved();
  // Room made downstream lets upstream read on, and what upstream brought lets downstream send on: until neither moves.
  for (std::uint64_t before = begin;; before = bytes_moved()) {
    if (absl::Status status = move_once(); !status.ok()) {
      fail(status);
      return status;
    }
    if (bytes_moved() == before) return false;
    if (bytes_moved() - begin > kBytesPerTurn) return true;
  }
}

void RelayCircuit::fail(const absl::Status& reason) {
  upstream_.fail(reason.message());
  downstream_.fail(reason.message());
}

absl::Status RelayCircuit::blame(const std::string& node, const absl::Status& reason) const {
  return absl::Status(reason.code(), absl::StrCat("node ", names_.self, ", about node ", node, ": ", reason.message()));
}

absl::Status RelayCircuit::move_once() {
  if (absl::Status status = upstream_.progress(from_upstream_); !status.ok()) {
    return blame(names_.upstream, status);
  }
  send_waiting();
  if (absl::Status status = downstream_.progress(from_downstream_); !status.ok()) {
    return blame(names_.downstream, status);
  }
  return absl::OkStatus();
}

void RelayCircuit::send_waiting() {
  while (waiting_first_ != waiting_end_ && downstream_.can_send()) {
    const Waiting& next = waiting_[waiting_first_ % waiting_.size()];
    ++waiting_first_;
    downstream_.send(next.chunk, *next.slot);
  }
}

absl::Status RelayCircuit::Upstream::on_chunk(const Frame& chunk, Slot& slot) {
  RelayCircuit& circuit = circuit_;
  ++circuit.in_use_;
  circuit.waiting_[circuit.waiting_end_ % circuit.waiting_.size()] = Waiting{chunk, &slot};
  ++circuit.waiting_end_;
  circuit.send_waiting();
  return absl::OkStatus();
}

absl::Status RelayCircuit::Upstream::on_landed(const Frame&) {
  return absl::InternalError("a relay posts no landings");
}

absl::Status RelayCircuit::Upstream::on_control(const Frame& control) {
  return absl::InvalidArgumentError(absl::StrCat("a frame ", to_text(control.kind), " came from upstream"));
}

absl::Status RelayCircuit::Downstream::on_control(const Frame& control) {
  return circuit_.upstream_.send_control(control);
}

absl::Status RelayCircuit::Downstream::on_landed(const Frame&) {
  return absl::InternalError("a relay posts no landings");
}

absl::Status RelayCircuit::Downstream::on_chunk(const Frame&, Slot&) {
  return absl::InvalidArgumentError("a chunk came from downstream");
}

void RelayCircuit::Downstream::on_sent(Slot* slot) {
  RelayCircuit& circuit = circuit_;
  --circuit.in_use_;
  ++circuit.chunks_;
  circuit.bytes_ += slot->drained;
  circuit.upstream_.post_slot(*slot);
  circuit.send_waiting();
}

}  // namespace cableway
