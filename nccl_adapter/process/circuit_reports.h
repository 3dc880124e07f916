// What this process reports to its node of the circuits of one flow: which there are, what they have carried, and when
// another one took over. Owned by the control thread.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_CIRCUIT_REPORTS_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_CIRCUIT_REPORTS_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop_transport.h"
#include "core/flow/circuit_end.h"
#include "core/flow/circuit_name.h"
#include "core/session/session_message.h"
#include "nccl_adapter/comm/flow_comm.h"

namespace cableway::nccl {

class CircuitReports {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  // The flow begins here, or ends here.
  explicit CircuitReports(bool sends) : sends_(sends) {}

  // A circuit with this set-up has joined the flow, with `transport` at its end here.
  void joined(const CircuitSetup& setup, const HopTransport& transport, Instant now);
  // Of the first circuit; nullopt: none has joined.
  const std::optional<FlowOpened>& opened() const { return opened_; }

  // All without the flow's number; texts are within a message's limits.
  // The reroute in this activity, which is counted from now on.
  std::optional<FlowRerouted> rerouted(const FlowActivity& activity);
  // Circuits have ended; in the slot of each at most one other has joined since.
  void ended(const CommCircuits::Ended& ended, Instant now);
  // Those of them that are due: what has to be sent again is known, or the count is seconds late. None
  // while the flow is idle without a circuit, as its other end may have closed it.
  std::vector<CircuitRetired> retired(const FlowActivity& activity, Instant now);
  // Once for each time that the flow waits for a second.
  std::optional<FlowWaits> waits(const FlowActivity& activity, Instant now);
  FlowCounts counts(const FlowActivity& activity, Instant now) const;

 private:
  struct Joined {
    CircuitName name;
    CircuitCounts report;
    Instant since;
    CircuitName before;  // in the slot
    std::string path_before;
  };
  struct Ended {
    CircuitEnd end;
    std::string path;
    Instant at;
  };

  std::string path_of(const CircuitName& circuit) const;
  void count(const CircuitEnd& end) { ++retired_[static_cast<std::size_t>(end.kind)]; }

  const bool sends_;
  std::optional<FlowOpened> opened_;
  std::array<Joined, kMaxFlowCircuits> circuits_;          // by slot
  std::deque<Ended> ended_;                                // not reported yet; the oldest first
  std::array<std::uint64_t, kCircuitEndKinds> retired_{};  // FlowCounts::retired
  std::uint64_t reroutes_ = 0;
  std::chrono::nanoseconds pause_{};
  std::optional<Instant> waits_since_;
  bool waits_reported_ = false;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_CIRCUIT_REPORTS_H_
