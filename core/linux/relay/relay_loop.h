// The relay's data path: one thread, one epoll set, any number of circuits that share nothing but that thread.
//
// Circuits are added by the control thread and owned by the loop's thread from then on. A circuit ends when either of
// its connections does; its sockets then go to `closed`, to be drained elsewhere. Each has a slot of its own; those
// that are busy lease further ones from its store (core/linux/link/relay_store.h).
//
// Being woken by a completion costs an interrupt and several system calls. So circuits over RDMA on which something has
// just moved are polled instead, and asked to wake the loop only when nothing has moved on them for the time of `spin`.
#ifndef CABLEWAY_CORE_LINUX_RELAY_RELAY_LOOP_H_
#define CABLEWAY_CORE_LINUX_RELAY_RELAY_LOOP_H_

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
#include "core/circuit/circuit_setup.h"
#include "core/linux/link/hop_connection.h"
#include "core/linux/link/relay_store.h"
#include "core/linux/os/unique_fd.h"
#include "core/relay/relay_circuit.h"
#include "core/relay/relay_status.h"

namespace cableway::host {

class RelayLoop {
 public:
  // Circuits that are polled at a time: what a round of looking at those that are idle may cost the others.
  static constexpr std::size_t kMaxPolled = 32;

  struct Closed {
    CircuitSetup setup;
    absl::Status reason;
    bool broken = false;  // by a fault, or while a chunk was on its way through here
    UniqueFd upstream;
    UniqueFd downstream;
  };
  // Called on the loop's thread.
  struct Listener {
    std::function<void(Closed)> closed;
    // Circuits wait for a lease of this kind; of each once a minute at most.
    std::function<void(SlotKind)> out_of_leases;
  };

  // The stores' pools are its own from here on, and they outlive it. `spin`: for so long it looks for more before it
  // sleeps, since going to sleep and being woken takes longer than relaying a small message.
  static absl::StatusOr<std::unique_ptr<RelayLoop>> start(std::vector<RelayStore*> stores,
                                                          std::chrono::microseconds spin, Listener listener);
  // Stops the thread and drops the circuits that are left.
  ~RelayLoop();
  RelayLoop(const RelayLoop&) = delete;
  RelayLoop& operator=(const RelayLoop&) = delete;

  // A circuit's own slot. Before its set-up is answered, because the kernel may refuse. The stores' set-up thread.
  absl::StatusOr<std::unique_ptr<Slot>> make_floor(const HostEnd& upstream, const HostEnd& downstream);

  // Any thread. Both connections have had their set-up answered; the floor was made for them. A status other than OK:
  // there is no such circuit.
  absl::Status add(const CircuitSetup& setup, HopConnection upstream, HopConnection downstream,
                   std::unique_ptr<Slot> floor);
  // Any thread. Circuits added and not yet ended.
  std::size_t circuits() const { return open_.load(std::memory_order_relaxed); }
  // Any thread. Neither the stores' memory nor setups_refused is in it.
  RelayStatus status() const;

 private:
  struct Circuit;
  struct Side;

  // A store, and when its next notice may come that leases are waited for.
  struct Store {
    RelayStore* store;
    std::chrono::steady_clock::time_point next_notice{};
  };

  RelayLoop(UniqueFd epoll, UniqueFd wake, std::vector<Store> stores, std::chrono::microseconds spin,
            Listener listener);
  RelayStore& store_of(SlotKind kind);
  bool any_leased() const;
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
  void tell_of_waits(Store& store);
  absl::Status watch(Circuit& circuit);
  absl::Status watch(int fd, Side& side);

  const UniqueFd epoll_;
  const UniqueFd wake_;
  std::vector<Store> stores_;
  const std::chrono::microseconds spin_;
  const Listener listener_;

  // The loop's thread alone.
  std::map<Circuit*, std::unique_ptr<Circuit>> circuits_;
  std::vector<std::unique_ptr<Circuit>> closed_;  // in this round: events that name them may still be in hand
  std::deque<Circuit*> unfinished_;               // ended their turn with work left
  std::vector<Circuit*> polled_;                  // all others are armed

  std::atomic<std::size_t> open_ = 0;

  // Set-up, tear-down and status only; never taken while data moves.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Circuit>> added_;
  std::vector<Circuit*> listed_;
  RelayStatus ended_;  // totals of circuits that are gone
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RELAY_RELAY_LOOP_H_
