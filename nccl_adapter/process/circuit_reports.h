// The reports of this process to its node about the circuits of one flow: which circuits exist, what they have
// carried, and when another circuit took over. Owned by the control thread.
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

  // `sends`: the flow begins here; otherwise it ends here.
  explicit CircuitReports(bool sends) : sends_(sends) {}

  // A circuit with this set-up has joined the flow, with `transport` at its end here.
  void joined(const CircuitSetup& setup, const HopTransport& transport, Instant now);
  // The report of the first circuit. nullopt: no circuit has joined.
  const std::optional<FlowOpened>& opened() const { return opened_; }

  // All reports lack the flow's number. Texts are within a message's limits.
  // Returns the reroute in this activity, and includes it in later counts().
  std::optional<FlowRerouted> rerouted(const FlowActivity& activity);
  // Circuits have ended. In the slot of each, at most one other circuit has joined since.
  void ended(const CommCircuits::Ended& ended, Instant now);
  // The ended circuits whose report is due: the bytes to be sent again are known, or the destination's count is
  // seconds late. None while the flow is idle without a circuit, since its other end may have closed it.
  std::vector<CircuitRetired> retired(const FlowActivity& activity, Instant now);
  // Returned once for each time that the flow waits for a second.
  std::optional<FlowWaits> waits(const FlowActivity& activity, Instant now);
  FlowCounts counts(const FlowActivity& activity, Instant now) const;

 private:
  struct Joined {
    CircuitName name;
    CircuitCounts report;
    Instant since;
    CircuitName before;  // the previous circuit in the slot
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
