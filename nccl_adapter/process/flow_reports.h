// Reports this process's flows to its node, so that an operator sees them there: FlowOpened and FlowEnded, and all open
// flows again after the node restarts. Owned by the control thread; no data thread waits for it.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_FLOW_REPORTS_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_FLOW_REPORTS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop_transport.h"
#include "core/linux/session/session_client.h"
#include "core/session/session_message.h"

namespace cableway::nccl {

class FlowComm;

// For a flow with this set-up, whose end here uses `transport`: everything but its number, within a message's limits.
FlowOpened report_of(const CircuitSetup& setup, const HopTransport& transport, bool sends);

class FlowReports {
 public:
  // `comm` identifies the flow until ended(), and is not dereferenced.
  void opened(const FlowComm* comm, FlowOpened report);
  // `failure`: "" if it was closed. Only the first call for a flow counts.
  void ended(const FlowComm* comm, const std::string& failure);
  // Call when the handshake of a new session is complete; reports all open flows.
  void use_session(const std::shared_ptr<host::SessionClient>& session);

 private:
  struct Open {
    FlowOpened report;
    std::chrono::steady_clock::time_point since;
  };
  void send(Open& flow);

  std::map<const FlowComm*, Open> open_;
  std::shared_ptr<host::SessionClient> session_;
  std::uint64_t last_number_ = 0;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_FLOW_REPORTS_H_
