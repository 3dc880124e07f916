// A circuit being set up: the control thread completes it, NCCL's service thread polls for the result.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_OPENING_CIRCUIT_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_OPENING_CIRCUIT_H_

#include <mutex>
#include <optional>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/linux/hop/circuit_dialer.h"

namespace cableway::nccl {

class OpeningCircuit {
 public:
  struct Opened {
    host::HopConnection connection;
    CircuitSetup setup;
  };

  // nullopt while pending, then once the circuit or the reason of the failure. The result shares nothing with the
  // control thread.
  absl::StatusOr<std::optional<Opened>> take();
  void finish(absl::StatusOr<Opened> result);

 private:
  std::mutex mutex_;
  std::optional<absl::StatusOr<Opened>> result_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_OPENING_CIRCUIT_H_
