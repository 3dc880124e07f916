// The common part of send comms and receive comms: one flow and the circuits that carry it (currently one), at most 32
// requests, registered memory, and the reason of a failure.
//
// NCCL calls isend, irecv, iflush and test from one thread and everything else from another; the control thread checks
// the flow, and polls it while NCCL has no request. Each comm has its own mutex for that, so data threads of different
// flows never contend.
#ifndef CABLEWAY_NCCL_ADAPTER_COMM_FLOW_COMM_H_
#define CABLEWAY_NCCL_ADAPTER_COMM_FLOW_COMM_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/hop_names.h"
#include "core/flow/chunk_link.h"
#include "core/linux/link/hop_link.h"
#include "core/ports/port_lost.h"
#include "nccl_adapter/abi/log.h"
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

class FlowComm {
 public:
  struct Names {
    std::string flow;  // in messages: "flow to node n2 (n0 -c0-> n1 -c1-> n2)"
    HopEnd end;        // of its connection
  };

  FlowComm(Context& context, std::unique_ptr<host::HopLink> hop, Names names, Log log);
  virtual ~FlowComm() = default;
  FlowComm(const FlowComm&) = delete;
  FlowComm& operator=(const FlowComm&) = delete;

  Context& context() const { return context_; }

  // GPU memory is refused if this end's hop goes over TCP.
  absl::StatusOr<MemoryRegion*> register_memory(const NamedMemory& memory);
  // After return, neither this plugin nor a device accesses the memory. If requests still use it, the flow ends: NCCL
  // deregisters memory in use only when it aborts.
  absl::Status deregister_memory(MemoryRegion* region);

  // Logs why a call failed. The failure of the flow is logged once, however many calls it fails.
  void log_failure(const absl::Status& reason);

  // Moves data and returns whether `request` is done. A done request no longer exists.
  absl::StatusOr<Completion> test(Request* request);

  // Ends the flow and gives up its circuits' connections for draining. Afterwards no memory is accessed.
  std::vector<host::UniqueFd> close();
  // The same for a comm that NCCL has not closed: its requests' memory may be freed already, so no data is moved.
  std::vector<host::UniqueFd> abandon();

  // For the control thread: fails the flow if its hop has failed without a signal from the connection
  // (HopLink::check()).
  void check();
  // For the control thread: fails the flow if a hop of it is over that port.
  void lose_port(const PortLost& lost);
  // For the control thread: polls an idle flow with a hop that needs it (HopLink::needs_idle_polls()), as over RDMA:
  // the neighbour's requests are answered only by a poll, and NCCL polls only while it has requests. A relay waits for
  // the slots that it lent. Accesses no memory of NCCL's and never blocks: if NCCL is inside a call, that call polls.
  void poll_if_idle();
  // Why it failed with messages in flight, or before one that was requested later; "" if it has not. Reported to the
  // operator.
  std::string failure();

 protected:
  virtual absl::Status progress() = 0;
  virtual bool done(std::uint64_t message) const = 0;
  virtual std::uint64_t size(std::uint64_t message) const = 0;
  virtual bool idle() const = 0;
  // Whether the other end of the connection writes to memory registered here, or this end sends from it.
  virtual bool receives() const = 0;

  using Requests = std::array<Request, kMaxLandings>;

  // Requires mutex_. Null: the entry that message or flush `number` needs is still in use.
  static Request* take(Requests& requests, std::uint64_t number, MemoryRegion* region);
  static void release(Request& request);
  absl::Status check_buffer(const void* data, std::size_t bytes, const MemoryRegion* region) const;
  // Records the first failure, found on the first circuit: reports it to the peer, ends the circuits, and logs it
  // unless the flow is idle. Returns the recorded status. A fault of the peer is never reported as the caller's invalid
  // argument.
  absl::Status fail(const absl::Status& reason);
  // Prefixes the flow's name to the message.
  absl::Status named(const absl::Status& status) const;

  // This process's hop of one of the flow's circuits.
  struct Circuit {
    std::unique_ptr<host::HopLink> hop;
    HopEnd end;
    std::string end_text;  // of `end`
  };
  ChunkLink& first_link() { return circuits_.front().hop->link(); }

  std::mutex mutex_;
  std::vector<Circuit> circuits_;
  absl::Status failure_;
  bool failure_logged_ = false;
  FlowMemory memory_;
  Requests messages_;
  Requests flushes_;
  bool failed_busy_ = false;  // failed with unfinished requests, or received one later

 private:
  absl::StatusOr<Completion> test_message(Request& request);
  absl::StatusOr<Completion> test_flush(Request& request);

  std::vector<host::UniqueFd> take_sockets();
  static std::vector<Circuit> circuit_of(std::unique_ptr<host::HopLink> hop, HopEnd end);
  static std::vector<const host::HopLink*> hops_of(const std::vector<Circuit>& circuits);

  Context& context_;
  const std::string flow_;  // Names::flow
  const Log log_;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_COMM_FLOW_COMM_H_
