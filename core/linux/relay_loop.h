// The relay's data path: one thread, one epoll set, any number of circuits that share nothing but that thread.
//
// Circuits are added by the control thread and owned by the loop's thread from then on. A circuit ends when either of
// its connections does; its sockets then go to `closed`, to be drained elsewhere. Each has a slot of its own; those
// that are busy lease one more from the loop's pool (core/slot_pool.h).
//
// Being woken by a completion costs an interrupt and several system calls. So circuits over RDMA on which something has
// just moved are polled instead, and asked to wake the loop only when nothing has moved on them for the time of `spin`.
#ifndef CABLEWAY_CORE_LINUX_RELAY_LOOP_H_
#define CABLEWAY_CORE_LINUX_RELAY_LOOP_H_

#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit_setup.h"
#include "core/linux/hop_link.h"
#include "core/linux/pipe_slot.h"
#include "core/linux/rdma_relay_memory.h"
#include "core/linux/relay_memory.h"
#include "core/linux/unique_fd.h"
#include "core/relay_circuit.h"
#include "core/relay_status.h"
#include "core/slot_pool.h"

namespace cableway::linux_ {

class RelayLoop {
 public:
  // Circuits that are polled at a time: what a round of looking at those that are idle may cost the others.
  static constexpr std::size_t kMostPolled = 32;

  struct Closed {
    CircuitSetup setup;
    absl::Status reason;
    UniqueFd upstream;
    UniqueFd downstream;
  };
  // Called on the loop's thread.
  struct Listener {
    std::function<void(Closed)> closed;
    // Circuits wait for a lease, of a pipe or of registered memory; each once a minute at most.
    std::function<void()> out_of_leases;
    std::function<void()> out_of_rdma_leases = [] {};
  };

  // Makes the slots of all leases. ResourceExhausted: the kernel has not so many pipes for this process.
  // `rdma`, for circuits with a hop over RDMA, outlives it; null: there are none. `spin`: for so long it looks for more
  // before it sleeps, since going to sleep and being woken takes longer than relaying a small message.
  static absl::StatusOr<std::unique_ptr<RelayLoop>> start(const RelayMemory& memory, RdmaRelayMemory* rdma,
                                                          std::chrono::microseconds spin, Listener listener);
  // Stops the thread and drops the circuits that are left.
  ~RelayLoop();
  RelayLoop(const RelayLoop&) = delete;
  RelayLoop& operator=(const RelayLoop&) = delete;

  // What a circuit needs of the kernel. Before its set-up is answered, because the kernel may refuse.
  static absl::StatusOr<std::unique_ptr<PipeSlot>> make_floor();

  // Any thread. Both connections have had their set-up answered. The floor is a PipeSlot where both hops go over TCP,
  // else an RdmaSlot. A status other than OK: there is no such circuit.
  absl::Status add(const CircuitSetup& setup, HopConnection upstream, HopConnection downstream,
                   std::unique_ptr<Slot> floor);
  // Any thread. Circuits added and not yet ended.
  std::size_t circuits() const { return open_.load(std::memory_order_relaxed); }
  // Any thread. setups_refused is not counted here.
  RelayStatus status() const;

 private:
  struct Circuit;
  struct Side;

  RelayLoop(UniqueFd epoll, UniqueFd wake, const RelayMemory& memory, RdmaRelayMemory* rdma,
            std::chrono::microseconds spin, std::vector<std::unique_ptr<Slot>> leases, Listener listener);
  void run();
  // Polls, and waits until something is to be done or a check may be due. Returns the number of events.
  int wait(std::span<epoll_event> events);
  // Returns whether somebody woke the loop.
  bool serve_events(std::span<const epoll_event> events);
  void serve_event(Side& side, std::uint32_t events);
  void serve_unfinished();
  void take_added();
  // Whether something has moved or the circuit has ended; only of circuits that may be polled.
  bool serve(Circuit& circuit);
  // Has it polled from now on for the time of `spin`, if it may be and there is room. Returns whether it is.
  bool poll(Circuit& circuit);
  // Returns whether something has moved or ended.
  bool serve_polled();
  // Has its completions wake the loop, and looks once more for those that came before. Returns the same.
  bool arm(Circuit& circuit);
  // For what was found at one of its ends, which that end's name is put before.
  void end(Circuit& circuit, const std::string& hop_end, const absl::Status& found);
  void close(Circuit& circuit, const absl::Status& reason);
  // What has ended without a word.
  void close_dead();
  void rest();
  // Calls `tell` if circuits wait for a lease of `pool`, not before `next`.
  static void tell_of_waits(const SlotPool& pool, const std::function<void()>& tell,
                            std::chrono::steady_clock::time_point& next);
  absl::Status watch(Circuit& circuit);
  absl::Status watch(int fd, Side& side);

  const UniqueFd epoll_;
  const UniqueFd wake_;
  const RelayMemory memory_;
  RdmaRelayMemory* const rdma_;
  const std::chrono::microseconds spin_;
  const Listener listener_;

  // The loop's thread alone, but for the pool's counters.
  SlotPool pool_;
  std::map<Circuit*, std::unique_ptr<Circuit>> circuits_;
  std::vector<std::unique_ptr<Circuit>> closed_;         // in this round: events that name them may still be in hand
  std::deque<Circuit*> unfinished_;                      // ended their turn with work left
  std::vector<Circuit*> polled_;                         // all others are armed
  std::chrono::steady_clock::time_point next_notice_{};  // that leases are waited for
  std::chrono::steady_clock::time_point next_rdma_notice_{};

  std::atomic<std::size_t> open_ = 0;

  // Set-up, tear-down and status only; never taken while data moves.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Circuit>> added_;
  std::vector<Circuit*> listed_;
  RelayStatus ended_;  // totals of circuits that are gone
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_RELAY_LOOP_H_
