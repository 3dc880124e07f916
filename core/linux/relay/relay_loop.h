// The relay's data path: one thread, one epoll set, any number of circuits that share nothing but that thread.
//
// The control thread adds circuits; from then on the loop's thread owns them. A circuit ends when either of its
// connections does; its sockets then go to `closed`, to be drained elsewhere. Each has its own slot; busy circuits
// lease further ones from its store (core/linux/link/relay_store.h).
//
// A completion event costs an interrupt and several system calls. So RDMA circuits that have just moved data are
// polled, and arm their events only after nothing has moved for the time of `spin`.
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
#include "core/gate/port_stamps.h"
#include "core/gate/relay_load.h"
#include "core/linux/link/hop_connection.h"
#include "core/linux/link/relay_store.h"
#include "core/linux/os/unique_fd.h"
#include "core/ports/port_lost.h"
#include "core/relay/relay_circuit.h"
#include "core/relay/relay_status.h"

namespace cableway::host {

class RelayLoop {
 public:
  // Limit of polled circuits, which bounds the delay that polling idle circuits causes for others.
  static constexpr std::size_t kMaxPolled = 32;

  struct Closed {
    CircuitSetup setup;
    absl::Status reason;
    bool broken = false;  // by a fault, or with a chunk in flight here
    UniqueFd upstream;
    UniqueFd downstream;
  };
  // Called on the loop's thread.
  struct Listener {
    std::function<void(Closed)> closed;
    // Circuits wait for a lease of this store. At most once a minute per store.
    std::function<void(RelayStore&)> out_of_leases;
  };

  struct Options {
    // How long it polls for more work before it sleeps, since sleeping and waking take longer than relaying a small
    // message.
    std::chrono::microseconds spin{0};
    bool checksums = true;            // HopLinkOptions::checksums
    PortStampPage* stamps = nullptr;  // of this host's ports; null: none is stamped, and no circuit is an alternate
  };
  // From then on only the loop uses the stores' pools. The stores and the stamps must outlive it.
  static absl::StatusOr<std::unique_ptr<RelayLoop>> start(const std::vector<RelayStore*>& stores,
                                                          const Options& options, Listener listener);
  // Stops the thread and drops the remaining circuits.
  ~RelayLoop();
  RelayLoop(const RelayLoop&) = delete;
  RelayLoop& operator=(const RelayLoop&) = delete;

  // Makes a circuit's own slot. Call before the set-up is answered, because the kernel may refuse. For the stores'
  // set-up thread.
  absl::StatusOr<std::unique_ptr<Slot>> make_floor(const HostEnd& upstream, const HostEnd& downstream);

  // Callable from any thread. The set-up must have been answered on both connections, and the floor made for them. On
  // error no circuit was added.
  absl::Status add(const CircuitSetup& setup, HopConnection upstream, HopConnection downstream,
                   std::unique_ptr<Slot> floor);
  // Callable from any thread. Ends the circuits with a hop over that port, and sends the reason to their other hops.
  void lose_port(PortLost lost);
  // Callable from any thread. Circuits added and not yet ended.
  std::size_t circuits() const { return open_.load(std::memory_order_relaxed); }
  // Callable from any thread. Excludes the stores' memory and setups_refused.
  RelayStatus status() const;
  // Callable from any thread. status() without its list of circuits, which takes time in proportion to their number.
  RelayStatus counts() const;

 private:
  struct Circuit;
  struct Side;

  // A store, and when its next out_of_leases notice is due.
  struct Store {
    RelayStore* store;
    Instant next_notice;
  };

  RelayLoop(UniqueFd epoll, UniqueFd wake, std::vector<Store> stores, const Options& options, Listener listener);
  RelayStore& store_of(SlotKind kind);
  RelayEgress egress(const CircuitSetup& setup) const;
  bool any_leased() const;
  void run();
  // Sets `now_`, for all circuits.
  void read_clock();
  // Polls, then waits for events or until a check may be due. Returns the number of events.
  int wait(std::span<epoll_event> events);
  // Returns whether another thread woke the loop.
  bool serve_events(std::span<const epoll_event> events);
  void serve_event(Side& side, std::uint32_t events);
  void serve_unfinished();
  void take_added();
  void take_lost();
  // Returns whether data has moved or the circuit has ended; only for circuits that may be polled.
  bool serve(Circuit& circuit);
  // Polls it for the time of `spin` from now, if it may be polled and there is room. Returns whether it is polled.
  bool poll(Circuit& circuit);
  // Returns whether data has moved or a circuit has ended.
  bool serve_polled();
  // Arms the circuit's completion events; before that, polls once more for completions. Returns the same as serve().
  bool arm(Circuit& circuit);
  // Ends the circuit for an error of one of its ends. The reason is prefixed by that end's name.
  void end(Circuit& circuit, const std::string& hop_end, const absl::Status& found);
  void close(Circuit& circuit, const absl::Status& reason);
  // Ends circuits whose failure their connections do not signal.
  void close_dead();
  // Ends each circuit with a side for which `check` returns a status other than OK.
  void end_sides(const std::function<absl::Status(const Side&)>& check);
  void tick();
  void report_waits(Store& store);
  // Lets alternates that have found their port in use check whether it is idle.
  void look_at_gates();
  absl::Status watch(Circuit& circuit);
  absl::Status watch(int fd, Side& side);

  const UniqueFd epoll_;
  const UniqueFd wake_;
  std::vector<Store> stores_;
  const Options options_;
  const Listener listener_;

  // For the loop's thread only.
  std::map<Circuit*, std::unique_ptr<Circuit>> circuits_;
  std::vector<std::unique_ptr<Circuit>> closed_;  // in this round: pending events may still refer to them
  std::deque<Circuit*> unfinished_;               // with work left after their turn
  std::vector<Circuit*> polled_;                  // all others are armed
  std::vector<Circuit*> gated_;                   // RelayCircuit::waits_for_gate()
  std::vector<Circuit*> with_news_;               // RelayCircuit::has_news(), during tick()
  Instant next_look_;
  Instant now_;
  RelayLoad load_;

  std::atomic<std::size_t> open_ = 0;

  // For set-up, tear-down and status only; never taken while data moves.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Circuit>> added_;
  std::vector<PortLost> lost_;
  std::vector<Circuit*> listed_;
  RelayStatus ended_;  // totals of ended circuits
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RELAY_RELAY_LOOP_H_
