// Records which ports of a host flows' own paths use: for each port, until when it counts as in use, and the bytes
// that it has carried. The records are in memory that the host's node shares with the processes of its jobs. A
// process or relay that puts a chunk of a first path or a bundle on a port stamps the port. An alternate, which may
// use only idle ports, reads the stamp first (port_gate.h).
//
//   process A                     the page                      cablewayd's relay
//   EgressPort("eth1").use() ---> [.. until .. until ..] <--- EgressPort("eth1").in_use_until()
//
// Each port uses the entry to which its name hashes, so ports need no registration, and entries stay the same when a
// node restarts. Two ports with the same entry, or invalid times, only keep alternates away more often than
// necessary.
//
// Any thread. Neither blocks nor allocates.
#ifndef CABLEWAY_CORE_GATE_PORT_STAMPS_H_
#define CABLEWAY_CORE_GATE_PORT_STAMPS_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/clock.h"

namespace cableway {

// A page of zero bytes is valid.
struct PortStampPage {
  static constexpr std::size_t kPlaces = 512;
  std::array<std::atomic<std::int64_t>, kPlaces>
      until;  // ns of the host's monotonic clock, as in Instant; 0: not in use
  std::array<std::atomic<std::uint64_t>, kPlaces> bytes;  // number of bytes put on the port
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free,
              "the page is shared by processes");
static_assert(sizeof(PortStampPage) == 8192);

// A port of this host through which chunks leave.
class EgressPort {
 public:
  // How long a port counts as in use after a chunk: four times the time that the chunk takes, within these limits, so
  // that the port stays in use between the chunks of a flow.
  static constexpr std::chrono::milliseconds kShortestUse{4};
  static constexpr std::chrono::milliseconds kLongestUse{200};

  // An unknown port.
  EgressPort() = default;
  // `page` must outlive this. `interface`: the port's name on its host; "": unknown.
  EgressPort(PortStampPage& page, absl::string_view interface)
      : until_(interface.empty() ? nullptr : &page.until[place_of(interface)]),
        bytes_(interface.empty() ? nullptr : &page.bytes[place_of(interface)]) {}

  bool is_known() const { return until_ != nullptr; }

  // Adds `bytes` bytes of competing chunks that were put on the port.
  void count(std::uint64_t bytes) const {
    if (bytes_ != nullptr) bytes_->fetch_add(bytes, std::memory_order_relaxed);
  }
  // The total of all users of the port. Requires is_known().
  std::uint64_t bytes() const { return bytes_->load(std::memory_order_relaxed); }

  // Marks the port as in use by a chunk of a flow's own path that takes `chunk_time`.
  void use(Instant now, Duration chunk_time) const {
    if (until_ == nullptr) return;
    const Duration use = std::clamp<Duration>(4 * chunk_time, kShortestUse, kLongestUse);
    const std::int64_t until = (now + use).since_start.count();
    const std::int64_t present = until_->load(std::memory_order_relaxed);
    // Does not store for each of many small chunks: other processes read the same cache line. Of two concurrent
    // stores one may be lost; the next chunk makes up for it.
    const bool is_later = present < until - Duration(kShortestUse).count() / 4;
    if (is_later || is_invalid(present, now)) until_->store(until, std::memory_order_relaxed);
  }

  // Requires is_known(). A stamp beyond the longest use from now is an error, and is replaced by that limit.
  Instant in_use_until(Instant now) const {
    std::int64_t until = until_->load(std::memory_order_relaxed);
    if (is_invalid(until, now) && until_->compare_exchange_strong(until, latest(now), std::memory_order_relaxed)) {
      until = latest(now);
    }
    return Instant{Duration{std::min(until, latest(now))}};
  }

 private:
  // The clocks of other users may be ahead of this one's, which may read its clock once in a while only.
  static bool is_invalid(std::int64_t until, Instant now) { return until > latest(now + Duration(kLongestUse)); }
  static std::int64_t latest(Instant now) { return (now + kLongestUse).since_start.count(); }
  // FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), the same in every process.
  static constexpr std::size_t place_of(absl::string_view interface) {
    std::uint32_t hash = 2166136261U;
    for (const char each : interface) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U;
    return hash % PortStampPage::kPlaces;
  }

  std::atomic<std::int64_t>* until_ = nullptr;
  std::atomic<std::uint64_t>* bytes_ = nullptr;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_GATE_PORT_STAMPS_H_
