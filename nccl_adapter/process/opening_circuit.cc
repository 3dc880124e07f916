#include "nccl_adapter/process/opening_circuit.h"

#include <utility>

#include "nccl_adapter/process/control_thread.h"

namespace cableway::nccl {

absl::StatusOr<std::optional<OpeningCircuit::Opened>> OpeningCircuit::take() {
  const std::lock_guard lock(mutex_);
  if (!result_.has_value()) return std::nullopt;
  if (!result_->ok()) return std::move(*result_).status();
  return std::optional<Opened>(*std::move(*result_));
}

void OpeningCircuit::finish(absl::StatusOr<Opened> result) {
  if (!result.ok()) result = unshared(result.status());
  const std::lock_guard lock(mutex_);
  result_.emplace(std::move(result));
}

}  // namespace cableway::nccl
