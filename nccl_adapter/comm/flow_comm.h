// The common part of send comms and receive comms: one flow and the circuits that carry it, at most 32 requests,
// registered memory, and the reason of a failure.
//
// NCCL calls isend, irecv, iflush and test from one thread and everything else from another; the control thread sets up
// circuits, checks them, and polls the flow while NCCL has no request. Each comm has its own mutex for that, so data
// threads of different flows never contend.
#ifndef CABLEWAY_NCCL_ADAPTER_COMM_FLOW_COMM_H_
#define CABLEWAY_NCCL_ADAPTER_COMM_FLOW_COMM_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/clock.h"
#include "core/flow/circuit_owner.h"
#include "core/flow/flow_traffic.h"
#include "core/flow_circuits/flow_pauses.h"
#include "core/linux/gate/shared_port_stamps.h"
#include "core/linux/link/hop_connection.h"
#include "core/ports/port_lost.h"
#include "nccl_adapter/abi/log.h"
#include "nccl_adapter/comm/comm_circuits.h"
#include "nccl_adapter/memory/flow_memory.h"
#include "nccl_adapter/memory/memory_region.h"

namespace cableway::nccl {

class Context;

// Returned by isend, irecv and iflush, and passed to test. Owned by its comm.
struct Request {
  FlowComm* comm = nullptr;
  MemoryRegion* region = nullptr;
  bool flushes = false;
  std::uint64_t number = 0;  // of the message or flush
  bool active = false;
};

struct Completion {
  bool done = false;
  std::uint64_t bytes = 0;
};

// What a flow has carried, for reports.
struct FlowActivity {
  FlowTraffic traffic;
  CircuitName carrier;                               // CircuitOwner::carrier()
  std::array<CircuitName, kMaxFlowCircuits> live;    // by slot; generation 0: none is alive there
  std::optional<Reroute> reroute;                    // since the last activity that was taken
  std::string waits;                                 // why there is no circuit while NCCL waits; "": NCCL does not wait
  CircuitLoads loads;                                // CircuitOwner::loads()
  std::array<CountedEnd, kMaxFlowCircuits> counted;  // CommCircuits::counted()
};

class FlowComm {
 public:
  // Called with the comm's mutex held, on the thread that finds that a circuit has ended, or that NCCL has posted a
  // message while no circuit is live.
  using NeedsControl = std::function<void(FlowComm*)>;
  struct Origin {
    Context& context;
    std::string flow;  // name in messages: "flow to node n2"
    std::string node;  // this node
    Log log;
    NeedsControl needs_control;
    bool checksums = true;  // HopLinkOptions::checksums
    // The stamps of this host's ports. Null: ports are not stamped.
    std::shared_ptr<host::SharedPortStamps> port_stamps = nullptr;
  };

  virtual ~FlowComm() = default;
  FlowComm(const FlowComm&) = delete;
  FlowComm& operator=(const FlowComm&) = delete;

  Context& context() const { return origin_.context; }

  // GPU memory is refused if this end's hop goes over TCP.
  absl::StatusOr<MemoryRegion*> register_memory(const NamedMemory& memory);
  // After return, neither this plugin nor a device accesses the memory. If requests still use it, the flow ends: NCCL
  // deregisters memory in use only when it aborts.
  absl::Status deregister_memory(MemoryRegion* region);

  // Logs why a call failed. The failure of the flow is logged once, however many calls it fails.
  void log_failure(const absl::Status& reason);

  // Moves data and returns whether `request` is done. A done request no longer exists.
  absl::StatusOr<Completion> test(Request* request);

  // Ends the flow and returns its circuits' connections for draining. Afterwards no memory is accessed.
  std::vector<host::UniqueFd> close();
  // The same for a comm that NCCL has not closed: its requests' memory may already be freed, so no data is moved. The
  // other end gets the reason.
  std::vector<host::UniqueFd> abandon(const char* reason);

  // Whether a circuit has joined. An error: the flow failed before its first circuit.
  absl::StatusOr<bool> opened();
  // Why the flow failed with messages in flight, or before a message that was requested later; "" if it has not.
  // Reported to the operator.
  std::string failure();
  // The reason as sent to the other end; "" if the flow has not failed.
  std::string reason_for_peer();
  // Whether the flow has failed, or was closed and no longer answers.
  bool has_failed();
  // Whether the flow was closed after all of its messages had arrived here. A source that has lost the last
  // acknowledgement with its circuits then sets up another circuit, and gets the acknowledgement.
  bool answers_after_close();

  // For the control thread:
  // A circuit of the flow is open here; `connection` is this end's hop. The status gives the reason if the circuit
  // cannot carry the flow; the connection is then closed.
  absl::Status join(const CircuitSetup& setup, host::HopConnection connection);
  // Ends circuits as CommCircuits' functions of these names.
  void check();
  void lose_port(const PortLost& lost);
  CommCircuits::Ended take_ended();
  std::vector<host::UniqueFd> take_sockets();
  std::size_t live();
  void end_circuit(const CircuitName& circuit, const absl::Status& reason);
  // Whether NCCL has posted messages that are not done.
  bool waits();
  // CircuitOwner::arrived()
  std::uint64_t arrived();
  // Ends the flow because no circuit can carry it. `reason` names where the fault was found.
  void end(const absl::Status& reason);
  // Makes the best circuit the primary (receiver only). Also polls an idle flow that needs it, since NCCL polls only
  // with requests: over RDMA a relay waits for its slots, and after a second circuit the other end may wait for a
  // count. Does not access NCCL's memory. If NCCL is inside a call, that call polls.
  void tend();
  // Polls an idle flow, which may not have noticed yet that its circuits have ended.
  void poll_if_idle();
  // Polls an idle receiver that has had several circuits: its source may have lost the last acknowledgement with one
  // of them, and waits for a count. Returns false once the flow has been unused for kAttended, after which tend() is
  // enough. To be called about 100 times a second until then.
  bool attend();
  static constexpr std::chrono::seconds kAttended{1};
  // nullopt: NCCL is inside a call, or the flow has ended.
  std::optional<FlowActivity> take_activity();

 protected:
  // `flow`, the derived class's member, is not used before construction has ended. `lands`: this is the flow's
  // destination.
  FlowComm(Origin origin, CircuitOwner& flow, bool lands);

  // As FlowReceiver's. A sender has no choice.
  virtual void prefer(const CircuitName& /*circuit*/) {}

  using Requests = std::array<Request, kMaxLandings>;

  // Requires mutex_. Null: the entry that message or flush `number` needs is still in use.
  static Request* take(Requests& requests, std::uint64_t number, MemoryRegion* region);
  static void release(Request& request);
  absl::Status check_buffer(const void* data, std::size_t bytes, const MemoryRegion* region) const;
  // Moves data. For NCCL's threads, which test and send in a loop: quiet circuits are polled less often. A status other
  // than OK is the flow's failure.
  absl::Status progress_in_loop();
  static Instant now() { return Instant{std::chrono::steady_clock::now().time_since_epoch()}; }
  // To be called after every call that may have ended circuits.
  void note_ended();
  // To be called after every call that may have moved data.
  void note_moved() {
    if (!lands_ && pauses_.due(circuit_owner_.traffic())) pauses_.moved(circuit_owner_, now());
  }
  // NCCL has posted a message. A flow that was idle when it lost its circuits only now looks for another one.
  void note_posted() {
    if (circuit_owner_.live() > 0) return;
    pauses_.posted(now());
    if (circuits_.joined() > 0) origin_.needs_control(this);
  }
  // Records the first failure: sends it to the other end as the flow's end, ends the circuits, and logs it unless the
  // flow is idle. Returns the recorded status. A fault of the peer is never reported as the caller's invalid
  // argument.
  absl::Status fail(const absl::Status& reason);
  // A copy of the failure that shares no data with it: a thread other than the caller's may destroy the comm, and the
  // thread sanitizer does not see the reference count of a shared status.
  absl::Status own_failure() const { return {failure_.code(), failure_.message()}; }
  // Origin::flow, and CommCircuits::path().
  std::string name() const;
  // Prefixes it to the message.
  absl::Status named(const absl::Status& status) const;

  std::mutex mutex_;
  absl::Status failure_;
  bool failure_logged_ = false;
  FlowMemory memory_;
  Requests messages_;
  Requests flushes_;
  bool failed_busy_ = false;  // failed with unfinished requests, or received a request later

 private:
  // For work of the control thread that is done a few times a second. Not locked if NCCL is inside a call, unless that
  // has been so kMostLocksMissed times in a row: NCCL's thread may be inside a call nearly all the time.
  std::unique_lock<std::mutex> lock_at_leisure(std::size_t& missed);
  static constexpr std::size_t kMostLocksMissed = 3;
  absl::StatusOr<Completion> test_message(Request& request);
  absl::StatusOr<Completion> test_flush(Request& request);
  // Looks at the connections beside RDMA hops and polls every circuit, for a flow without unfinished requests.
  void progress_idle();
  absl::Status noted(const absl::Status& progress);

  absl::Status answer_after_close(const CircuitSetup& setup, std::unique_ptr<host::HopLink> hop, HopEnd end);
  absl::Status fail_with(const absl::Status& reason, const std::string& to_peer);

  const Origin origin_;
  CircuitOwner& circuit_owner_;
  const bool lands_;
  CommCircuits circuits_;
  std::string reason_for_peer_;
  bool answers_after_close_ = false;
  std::uint64_t ended_seen_ = 0;
  FlowPauses pauses_;
  // In a row, by tend() and take_activity(). For the control thread only.
  std::size_t tends_missed_ = 0;
  std::size_t takes_missed_ = 0;
  std::uint64_t used_ = 0;  // chunks and joined circuits when attend() last saw the flow in use
  Instant used_at_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_FLOW_COMM_H_
