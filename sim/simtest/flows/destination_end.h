// The destination's application of a flow.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_DESTINATION_END_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_DESTINATION_END_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow_circuits/source_inquiry.h"
#include "sim/simtest/flows/flow_end.h"

namespace cableway::sim {

class DestinationEnd final : public FlowEnd, private SourceInquiry::Flow {
 public:
  DestinationEnd(const Place& place, std::size_t first);

  bool is_live(const CircuitName& circuit) const { return receiver_.is_live(circuit); }
  // Whether the circuit's name is new to the flow.
  bool may_join(const CircuitName& circuit) const { return receiver_.may_join(circuit); }
  absl::Status join(const CircuitSetup& setup, OpenHop last_hop) { return join_circuit(setup, std::move(last_hop)); }
  // Whether this end has closed the flow with all messages received. A source that has not learned of that sets up
  // another circuit, which gets the last acknowledgement and then the end.
  bool answers_after_close() const { return over() && reason().ok(); }
  void answer_after_close(const CircuitSetup& setup, OpenHop last_hop);
  // To be called at the end of the run: checks that nothing was written into memory after it was given back.
  void check_memory();
  // To be called from time to time: makes the best circuit the primary.
  void tend();

 private:
  void poll() override;
  std::uint32_t key_of(Posted& posted, StubDevice& device) override;
  void circuits_ended(const std::vector<CircuitName>& circuits, const absl::Status& reason) override;
  void gives(const CircuitName& /*circuit*/, const Frame& /*chunk*/) override {}
  void takes(const CircuitName& circuit, const Frame& frame) override;
  void stop_circuits() override { inquiry_.stop(); }
  void forget(const Posted& used) override { check_untouched(used); }
  void messages_failed(const Posted& posted) override { record(posted.message).received = MessageState::kFailed; }

  std::size_t live() override { return receiver_.live(); }
  bool waits() override { return !receiver_.idle(); }
  std::uint64_t arrived() override { return receiver_.arrived(); }
  void fail(const absl::Status& reason) override { finish(reason); }

  void collect();
  void check(const Posted& posted);
  void check_untouched(const Posted& used);
  absl::Status post();

  const std::size_t first_;  // message of the flow
  FlowReceiver receiver_;
  SourceInquiry inquiry_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_DESTINATION_END_H_
