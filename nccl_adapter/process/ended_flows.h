// Remembers why flows of this process have ended, for their other ends, which inquire once their circuits are gone.
// For example, a source that gives up in the middle of a chunk over TCP cannot send its reason over that connection.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_ENDED_FLOWS_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_ENDED_FLOWS_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/circuit/circuit_setup.h"
#include "core/clock.h"
#include "core/flow_circuits/flow_paths.h"

namespace cableway::nccl {

class EndedFlows {
 public:
  // Longer than the other end waits for a path by default.
  static constexpr std::chrono::seconds kRemembered{60};
  // The maximum number of remembered flows; the oldest are forgotten first.
  static constexpr std::size_t kMost = 1024;

  // Keeps as much of `reason` as can be sent, kMaxFailureText.
  void add(const FlowIdentity& flow, std::string reason, Instant now);
  // Returns the reason if the flow of this set-up is remembered and the proof is valid.
  std::optional<std::string> find(const CircuitSetup& setup) const;
  // Forgets flows older than kRemembered.
  void expire(Instant now);

 private:
  struct Ended {
    Cookie cookie{};
    std::string reason;
  };
  struct Since {
    Instant when;
    FlowNonce nonce{};
  };

  std::map<FlowNonce, Ended> flows_;
  std::deque<Since> order_;  // of flows_; the oldest first
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_ENDED_FLOWS_H_
