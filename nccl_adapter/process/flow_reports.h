// What this process tells its node of its flows, so that an operator sees them there: FlowOpened and FlowEnded, and all
// that are open once more to a node that has begun again. The control thread's; no data thread waits for it.
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

// Of a flow with this set-up, whose end here goes over `transport`: all but its number, within the bounds of a message.
FlowOpened report_of(const CircuitSetup& setup, const HopTransport& transport, bool sends);

class FlowReports {
 public:
  // The comm names the flow from here to ended(), and is not looked at.
  void opened(const FlowComm* comm, FlowOpened report);
  // `failure`: "" if it was closed. Only the first call for a flow counts.
  void ended(const FlowComm* comm, const std::string& failure);
  // The session with the node has been greeted.
  void tell(const std::shared_ptr<host::SessionClient>& session);

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
