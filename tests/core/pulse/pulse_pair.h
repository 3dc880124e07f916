// Two hosts that send each other pulses over a cable, in virtual time. Each runs its timer late, as a scheduler does.
#ifndef CABLEWAY_TESTS_CORE_PULSE_PULSE_PAIR_H_
#define CABLEWAY_TESTS_CORE_PULSE_PULSE_PAIR_H_

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/pulse/pulses.h"

namespace cableway {

using namespace std::chrono_literals;

inline constexpr std::size_t kLargePulseBytes = 8972;

inline PulsedCable pulsed_cable(std::uint64_t own, std::uint64_t other, std::uint64_t own_nonce = 1,
                                std::uint64_t other_nonce = 1) {
  PulsedCable cable;
  cable.name = "n1.eth0-n2.eth0";
  cable.interface = "eth0";
  cable.neighbour = "n" + std::to_string(other);
  cable.own = {{own}, 1};
  cable.other = {{other}, 1};
  cable.large_bytes = kLargePulseBytes;
  cable.own_boot_nonce = own_nonce;
  cable.other_boot_nonce = other_nonce;
  return cable;
}

class PulsingHost final : public Pulses::Host {
 public:
  struct Found {
    Instant at;
    CableVerdict verdict;
  };
  struct Arriving {
    Instant at;
    std::vector<std::byte> bytes;
  };

  PulsingHost(std::uint64_t own, std::uint64_t other, std::chrono::milliseconds interval, std::mt19937_64& random)
      : cable(pulsed_cable(own, other)), pulses(interval, seal, *this), random_(random) {}

  bool send(const PulsedCable& /*cable*/, std::span<const std::byte> bytes) override {
    if (refuses || (refuses_large && bytes.size() > kPulseBytes)) return false;
    last_sent.assign(bytes.begin(), bytes.end());
    const bool is_large = bytes.size() > kPulseBytes;
    if (cut || lost(loss_in_million) || (is_large && lost(large_loss_in_million))) return true;
    peer->arriving.push_back({now + delay() + queued, {bytes.begin(), bytes.end()}});
    return true;
  }
  void loss(const PulsedCable& /*cable*/, unsigned percent) override { losses.push_back(percent); }
  // Of the neighbour's kernel, which answers even where its node stands still.
  bool look_for_signs(const PulsedCable& /*cable*/) override {
    ++looks;
    return alive > std::exchange(looked, now);
  }
  void verdict(const PulsedCable& /*cable*/, const CableVerdict& verdict) override {
    (verdict.proving ? proving : found).push_back({now, verdict});
  }

  // Reads a part of what has arrived, as a host does that has stood still for long.
  void run(Instant at) {
    now = at;
    if (kernels_answer && !cut && !peer->cut) alive = now;
    for (int read = 0; read < 256 && !arriving.empty() && arriving.front().at <= now; ++read) {
      const std::span<const std::byte> bytes = arriving.front().bytes;
      pulses.receive(cable.name, bytes.first(std::min(bytes.size(), kPulseBytes)), bytes.size(), arriving.front().at);
      arriving.pop_front();
    }
    pulses.tick(now);
  }

  PulsedCable cable;
  PulsingHost* peer = nullptr;
  bool cut = false;  // what it sends is lost
  bool refuses_large = false;
  bool refuses = false;  // nothing can be sent
  bool kernels_answer = true;
  std::uint64_t loss_in_million = 0;
  std::uint64_t large_loss_in_million = 0;  // beyond that
  Duration queued{0};                       // how long what it sends waits behind data
  Instant now;
  Instant wakes;
  Instant looked;
  Instant alive;  // when the neighbour's kernel last gave a sign
  std::size_t looks = 0;
  std::deque<Arriving> arriving;
  std::vector<std::byte> last_sent;
  std::vector<Found> found;
  std::vector<Found> proving;
  std::vector<unsigned> losses;
  const NoSeal seal;
  Pulses pulses;

 private:
  bool lost(std::uint64_t in_million) { return random_() % 1'000'000 < in_million; }
  Duration delay() { return 20us + Duration(random_() % 500'000); }

  std::mt19937_64& random_;
};

class PulsePair {
 public:
  explicit PulsePair(std::uint64_t seed = 1, std::chrono::milliseconds interval_a = 10ms,
                     std::chrono::milliseconds interval_b = 10ms)
      : random(seed), a(1, 2, interval_a, random), b(2, 1, interval_b, random) {
    a.peer = &b;
    b.peer = &a;
    for (PulsingHost* host : {&a, &b}) {
      host->wakes = now + Duration(random() % 10'000'000);
      host->pulses.set_cables({host->cable}, host->wakes);
    }
  }

  // `late`: how late a host's timer runs this time.
  template <typename Late>
  void run_for(Duration duration, Late late) {
    const Instant end = now + duration;
    while (std::min(a.wakes, b.wakes) < end) {
      PulsingHost& host = a.wakes <= b.wakes ? a : b;
      now = host.wakes;
      host.run(now);
      host.wakes = std::max(now, host.pulses.next()) + late(host);
    }
    now = end;
  }
  void run_for(Duration duration) {
    run_for(duration, [this](const PulsingHost& /*host*/) { return Duration(random() % 200'000); });
  }
  void cut_both(bool cut) { a.cut = b.cut = cut; }
  void cut_both_for(Duration duration) {
    cut_both(true);
    run_for(duration);
    cut_both(false);
  }
  // Both nodes lose the cable, as after a silence for the hold time, and have it again.
  void lose_cable() {
    for (PulsingHost* host : {&a, &b}) host->pulses.set_cables({}, now);
  }
  void find_cable() {
    for (PulsingHost* host : {&a, &b}) find_cable_at(*host);
  }
  void find_cable_at(PulsingHost& host) {
    host.pulses.set_cables({host.cable}, now);
    host.wakes = now;
  }
  // The host's node stands still for so long, its kernel does not.
  void stop(PulsingHost& host, Duration duration) { host.wakes = std::max(host.wakes, now + duration); }

  std::mt19937_64 random;
  Instant now{1h};
  PulsingHost a;
  PulsingHost b;
};

}  // namespace cableway

#endif  // CABLEWAY_TESTS_CORE_PULSE_PULSE_PAIR_H_
