// RdmaQueuePair: one end of a reliable connection over which each side writes into the other's registered memory,
// limited to what core/rdma/rdma_chunk_link.h needs. core/linux/rdma/verbs_queue_pair.h implements it over a device,
// sim/stub_rdma/stub_queue_pair.h in memory. Ordering is that of InfiniBand's reliable connection (InfiniBand
// Architecture Specification 1.4, volume 1, section 9.7; RoCE v2 is the same over UDP): writes are performed in the
// order of posting, and a notice is delivered only after all bytes written before it.
#ifndef CABLEWAY_CORE_RDMA_RDMA_QUEUE_PAIR_H_
#define CABLEWAY_CORE_RDMA_RDMA_QUEUE_PAIR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/rdma/rdma_endpoint.h"

namespace cableway {

// The keys of a memory registration with one device: for the device's own reads (lkey), and for the other side's writes
// (rkey).
struct RdmaKeys {
  std::uint32_t local = 0;
  std::uint32_t remote = 0;
};

// A write into the other side's memory.
struct RdmaWrite {
  const std::byte* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t local_key = 0;
  std::uint64_t to = 0;
  std::uint32_t remote_key = 0;
  // The bytes are copied while posting, so `data` may be reused at once and needs no key. At most kMaxInlineBytes.
  bool inlined = false;
  // The other side gets a completion with this number once these bytes and all bytes before them are written.
  bool notifies = false;
  std::uint32_t notice = 0;
  // The write is signaled: its completion carries `ticket` and covers all writes posted before it.
  bool reports = false;
  std::uint64_t ticket = 0;
};

inline constexpr std::uint32_t kMaxInlineBytes = 64;

struct RdmaCompletion {
  enum class Kind : std::uint8_t { kWritten, kNoticed };
  // Not initialized, because callers pass large arrays to poll() of which few elements are filled.
  Kind kind;
  std::uint64_t ticket;  // kWritten
  std::uint32_t notice;  // kNoticed
};

// One thread at a time. Except for fence(), nothing blocks, and nothing is allocated after set-up.
class RdmaQueuePair {
 public:
  // The maximum of outstanding writes: those posted and not covered by a reported completion.
  static constexpr std::uint32_t kMaxWrites = 512;
  // The maximum of notices in flight to this end: the number of mailbox places.
  static constexpr std::uint32_t kMaxNotices = 256;

  static constexpr std::size_t kMailboxPlaceBytes = 64;
  static constexpr std::size_t kMailboxBytes = kMaxNotices * kMailboxPlaceBytes;

  RdmaQueuePair() = default;
  RdmaQueuePair(const RdmaQueuePair&) = delete;
  RdmaQueuePair& operator=(const RdmaQueuePair&) = delete;
  virtual ~RdmaQueuePair() = default;

  // This end's parameters for the other end.
  virtual RdmaEndpoint endpoint() const = 0;
  // Registered memory of kMailboxBytes; only the other side writes it.
  virtual std::span<const std::byte> mailbox() const = 0;
  // Posts receives for kMaxNotices, then connects to the other end. Called once, before anything else. The device
  // retries writes posted before the other end is connected, for a limited time.
  virtual absl::Status connect(const RdmaEndpoint& other) = 0;

  // Posts all of `writes`, in order, with one call to the device. The caller ensures that at most kMaxWrites are
  // outstanding. A status other than OK is final and has the device's error.
  virtual absl::Status post(std::span<const RdmaWrite> writes) = 0;
  // Posts receives for `count` more notices. A notice without a posted receive ends the connection.
  virtual absl::Status expect_notices(std::uint32_t count) = 0;
  // Fills in the completions since the last call, oldest first, and returns their number. A status other than OK is
  // final: the connection is dead; earlier completions are reported first.
  virtual absl::StatusOr<std::size_t> poll(std::span<RdmaCompletion> completions) = 0;
  // Afterwards the other side cannot write here, posted memory is no longer read, and every other call fails. Blocks
  // until the device confirms this.
  virtual void fence() = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_RDMA_RDMA_QUEUE_PAIR_H_
