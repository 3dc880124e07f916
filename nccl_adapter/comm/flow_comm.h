// What a send comm and a receive comm have in common: one flow and the circuits that carry it (one, for now), at most
// 32 requests, registered memory, a reason when it has failed.
//
// NCCL calls isend, irecv, iflush and test from one thread and everything else from another; the control thread looks
// in too, and polls while NCCL has nothing to ask. Each comm has a mutex of its own for that, which data threads of
// different flows never share.
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
#include "nccl_adapter/abi/log.h"
#include "nccl_adapter/memory/flow_memory.h"
#include "nccl_adapter/memory/memory_region.h"

namespace cableway::nccl {

class Context;

// What isend, irecv and iflush return and test takes. Lives inside its comm.
struct Request {
  FlowComm* comm = nullptr;
  MemoryRegion* region = nullptr;
  bool flushes = false;
  std::uint64_t number = 0;  // of the message or the flush
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

  // A GPU's memory is refused where this end's hop goes over TCP.
  absl::StatusOr<MemoryRegion*> register_memory(const NamedMemory& memory);
  // When it returns nothing touches the memory any more. If requests still use it, the flow ends: NCCL deregisters
  // memory in use only when it aborts.
  absl::Status deregister_memory(MemoryRegion* region);

  // Logs why a call failed. What ended the flow is logged once, however many calls it fails.
  void tell(const absl::Status& reason);

  // Moves data and says whether `request` is done. A done request no longer exists.
  absl::StatusOr<Completion> test(Request* request);

  // Ends the flow and gives its circuits' connections away to be drained. Nothing touches any memory afterwards.
  std::vector<host::UniqueFd> close();
  // The same for a comm that nobody has closed: its requests' memory may be gone already, so nothing is moved any more.
  std::vector<host::UniqueFd> abandon();

  // The control thread's look: fails the flow if what it goes over has ended without a word (HopLink::check()).
  void check();
  // The control thread's poll of an idle flow with a hop that needs it (HopLink::needs_idle_polls()), as over RDMA:
  // what the neighbour asks is answered by whoever polls, and NCCL does so only while it has requests. A relay waits
  // for the slots that it lent. Touches no memory of NCCL's, and waits for nobody: where NCCL is in a call, that call
  // polls.
  void poll_if_idle();
  // Why it failed with messages on their way, or before one that was wanted then; "" if it has not: what the operator
  // is told of it.
  std::string failure();

 protected:
  virtual absl::Status progress() = 0;
  virtual bool done(std::uint64_t message) const = 0;
  virtual std::uint64_t size(std::uint64_t message) const = 0;
  virtual bool idle() const = 0;
  // Whether the other end of the connection writes into memory that is registered here, or this end sends from it.
  virtual bool receives() const = 0;

  using Requests = std::array<Request, kMaxLandings>;

  // With mutex_ held. Null: the place that message or flush `number` needs is still taken.
  static Request* take(Requests& requests, std::uint64_t number, MemoryRegion* region);
  static void release(Request& request);
  absl::Status check_buffer(const void* data, std::size_t bytes, const MemoryRegion* region) const;
  // Notes the first failure, found on the first circuit, tells the peer, ends the circuits, and tells the operator
  // unless the flow is idle. Returns the noted status. What the peer did wrong is not the caller's invalid argument.
  absl::Status fail(const absl::Status& reason);
  // What is wrong, with the flow's name before it.
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
  bool failure_told_ = false;
  FlowMemory memory_;
  Requests messages_;
  Requests flushes_;
  bool failed_busy_ = false;  // with requests that it had not done, or that came later

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
