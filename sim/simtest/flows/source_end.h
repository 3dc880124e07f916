// The source's application of a flow.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_SOURCE_END_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_SOURCE_END_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/flow/flow_sender.h"
#include "core/flow_circuits/source_circuits.h"
#include "sim/simtest/flows/carrier_rule.h"
#include "sim/simtest/flows/flow_end.h"

namespace cableway::sim {

class SourceEnd final : public FlowEnd, private SourceCircuits::Flow {
 public:
  // Sets its circuits up from start() on.
  // `lives`: whether a circuit is alive at the destination.
  SourceEnd(const Place& place, std::size_t first, CarrierRule::Lives lives);

  void start();
  // The destination waits for messages and has no circuit.
  void asked() { source_circuits_.asked(); }
  // Its node's paths have changed; it looks for its best one after `delay`.
  void paths_changed(Duration delay) { source_circuits_.paths_changed(delay); }
  void lose_port(const PortLost& lost) override;
  std::size_t dials() const { return dials_; }
  // Whether the circuit, which is alive, carries chunks now, alone or beside others.
  bool carries(const CircuitName& circuit) const { return sender_.shares(circuit) || sender_.carrier() == circuit; }
  // For a set-up of this flow that has arrived at the destination. Internal: a relay of its path did not reserve a
  // tenth of the time for the answer to travel back, or it waited and did not subtract that.
  absl::Status check_budget(const CircuitSetup& setup) const;

 private:
  struct Dial {
    std::uint32_t generation = 0;
    Instant at;
    std::chrono::milliseconds budget{0};
  };

  void poll() override;
  std::uint32_t key_of(Posted& posted, StubDevice& device) override;
  void circuits_ended(const std::vector<CircuitName>& circuits, const absl::Status& reason) override;
  void gives(const CircuitName& circuit, const Frame& chunk) override;
  void takes(const CircuitName& circuit, const Frame& frame) override;
  void stop_circuits() override { source_circuits_.stop(); }
  void messages_failed(const Posted& posted) override { record(posted.message).sent = MessageState::kFailed; }

  std::optional<CircuitName> reserve() override;
  void release(const CircuitName& reserved) override;
  absl::Status join(const CircuitSetup& setup, OpenHop first_hop) override;
  void end_circuit(const CircuitName& circuit, const absl::Status& reason) override {
    sender_.end_circuit(circuit, reason);
  }
  std::size_t live() override { return sender_.live(); }
  bool waits() override { return !sender_.idle(); }
  std::uint64_t arrived() override { return sender_.arrived(); }
  void fail(const absl::Status& reason) override { finish(reason); }

  void collect();
  absl::Status post();
  bool may_have_been_held(const CircuitSetup& setup, Instant since) const;

  FlowSender sender_;
  CarrierRule carriers_;
  CircuitName primary_;  // as the destination has announced
  const Instant began_;
  std::array<Dial, kMaxFlowCircuits> dialed_;  // by slot
  std::size_t dials_ = 0;
  SourceCircuits source_circuits_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_SOURCE_END_H_
