// Reports this process's flows to its node, so that an operator sees them there (is_report()), and all open flows again
// after the node restarts. Owned by the control thread; no data thread waits for it.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_FLOW_REPORTS_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_FLOW_REPORTS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/linux/session/session_client.h"
#include "core/session/session_message.h"

namespace cableway::nccl {

class FlowComm;

class FlowReports {
 public:
  // `comm` identifies the flow until ended(), and is not dereferenced.
  void opened(const FlowComm* comm, FlowOpened report);
  // About an open flow; dropped for any other. `counts` are not sent if nothing has passed since the last ones. If
  // the node does not keep up, neither counts nor retired circuits are sent.
  void rerouted(const FlowComm* comm, FlowRerouted report);
  void retired(const FlowComm* comm, CircuitRetired report);
  void waits(const FlowComm* comm, FlowWaits report);
  void counted(const FlowComm* comm, FlowCounts counts);
  // `failure`: "" if the flow was closed. Only the first call for a flow counts.
  void ended(const FlowComm* comm, const std::string& failure);
  // `circuits` circuits of an open flow have ended because damaged bytes were found; `reason` is that of the last
  // one.
  void corrupted(const FlowComm* comm, std::uint64_t circuits, const std::string& reason);
  // Call when the handshake of a new session is complete; reports all open flows.
  void use_session(const std::shared_ptr<host::SessionClient>& session);

 private:
  struct Open {
    FlowOpened report;
    std::chrono::steady_clock::time_point since;
    FlowCounts sent_counts;  // without ages
  };
  void send(Open& flow);
  template <typename Report>
  void send_about(const FlowComm* comm, Report report);

  std::map<const FlowComm*, Open> open_;
  std::shared_ptr<host::SessionClient> session_;
  std::uint64_t last_number_ = 0;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_FLOW_REPORTS_H_
