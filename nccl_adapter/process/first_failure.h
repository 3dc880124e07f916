// The first failure among this process's flows. NCCL closes all flows of a job once one has failed, and the other ends
// of the healthy ones fail in turn. They are told this failure, so that every rank names the cause, and none a healthy
// cable. Used by the control thread.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_FIRST_FAILURE_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_FIRST_FAILURE_H_

#include <chrono>
#include <string>

#include "core/clock.h"

namespace cableway::nccl {

class FirstFailure {
 public:
  // After that a failure is not the cause of what ends now: the process may run another job.
  static constexpr std::chrono::seconds kRemembered{60};

  // Records the failure of a flow in use. Does nothing if `failure` is empty or one is already remembered. `told`: what
  // its peers are told. If these are the words of another rank that names its first failure, that one is taken, without
  // the quotes that it has in `failure`, so that the text does not grow from rank to rank.
  void note(const std::string& failure, const std::string& told, Instant now);
  // What follows the reason of a flow that was closed: "; the job's first failure: ..", or "".
  std::string text(Instant now) const;

 private:
  std::string failure_;
  Instant since_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_FIRST_FAILURE_H_
