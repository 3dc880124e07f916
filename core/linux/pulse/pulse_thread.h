// Runs the pulses of a node on this host (core/pulse/pulses.h) on their own thread, since they must not wait for the
// node's other work. The thread requests a real-time priority, which needs CAP_SYS_NICE or RLIMIT_RTPRIO; without it,
// judgements allow for the delays of ordinary scheduling.
//
// Each cable has a connected UDP socket. The kernel timestamps each pulse, and the sockets are read before each
// judgement, so the thread need not wake for each arrival.
#ifndef CABLEWAY_CORE_LINUX_PULSE_PULSE_THREAD_H_
#define CABLEWAY_CORE_LINUX_PULSE_PULSE_THREAD_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "core/crypto/datagram_seal.h"
#include "core/discovery/control_channel.h"
#include "core/linux/control/control_socket.h"
#include "core/linux/os/unique_fd.h"
#include "core/linux/pulse/kernel_probe.h"
#include "core/linux/pulse/receive_counters.h"
#include "core/pulse/pulses.h"

namespace cableway::host {

class PulseThread final : private Pulses::Host {
 public:
  struct Options {
    std::chrono::milliseconds interval{10};
    std::uint16_t udp_port = 0;
  };
  // Called on the pulses' thread.
  struct Listener {
    std::function<void(const PulsedCable&, const CableVerdict&)> verdict;
    // The cable loses this percentage of packets; 0: no longer.
    std::function<void(const PulsedCable&, unsigned percent)> loss;
    // A cable's socket cannot be opened, for this reason; called once for each new reason. Retried once a second.
    std::function<void(const PulsedCable&, const std::string& reason)> failed;
  };

  // `seal` must outlive it and be usable by any thread.
  static absl::StatusOr<std::unique_ptr<PulseThread>> start(const Options& options, const DatagramSeal& seal,
                                                            Listener listener);
  // Stops the thread. Afterwards this host's kernel informs neighbours that no node is here.
  ~PulseThread() override;
  PulseThread(const PulseThread&) = delete;
  PulseThread& operator=(const PulseThread&) = delete;

  // Any thread. Replaces the set of cables.
  void set_cables(std::vector<PulsedCable> cables);

 private:
  struct Link {
    PulsedCable cable;
    UniqueFd socket;
    std::string failure;  // as last reported
    KernelProbe probe;
    std::uint64_t packets = 0;
  };
  // At most 256 pulses of one socket at a time, so that the others do not wait.
  static constexpr int kMaxReads = 256 / kMostAtOnce;

  PulseThread(const Options& options, const DatagramSeal& seal, Listener listener, UniqueFd wake);

  bool send(const PulsedCable& cable, std::span<const std::byte> bytes) override;
  bool look_for_signs(const PulsedCable& cable) override;
  void verdict(const PulsedCable& cable, const CableVerdict& verdict) override { listener_.verdict(cable, verdict); }
  void loss(const PulsedCable& cable, unsigned percent) override { listener_.loss(cable, percent); }

  void run();
  bool take_cables(Instant now);
  void open_sockets();
  void open(Link& link);
  void read_all(Instant now);
  void read(Link& link);
  // The pulse begins at `at` in buffer_.
  void take(const Link& link, const Arrival& arrival, std::size_t at, Instant now);
  void sleep_until(Instant when);

  const Options options_;
  const Listener listener_;
  const UniqueFd wake_;

  // Used only by the thread.
  Pulses pulses_;
  std::unique_ptr<ReceiveCounters> counters_;
  bool counters_are_fresh_ = false;    // read in this round
  std::map<std::string, Link> links_;  // by the cable's name
  std::array<std::byte, kMostAtOnce * kMaxDatagramBytes> buffer_{};
  bool woken_ = true;  // set_cables() or the destructor may have been called
  Instant next_open_;

  std::mutex mutex_;
  std::optional<std::vector<PulsedCable>> wanted_;
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PULSE_PULSE_THREAD_H_
