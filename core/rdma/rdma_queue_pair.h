// RdmaQueuePair: one end of a reliable connection over which one side writes into the other's registered memory. What
// core/rdma/rdma_chunk_link.h needs of it and no more: core/linux/rdma/verbs_queue_pair.h gives it a device,
// sim/stub_rdma/stub_queue_pair.h one in memory. The order is that of InfiniBand's reliable connection (InfiniBand
// Architecture Specification 1.4, volume 1, section 9.7; RoCE v2 is the same over UDP): what is posted here is done
// there in that order, and a notice is seen there only after all bytes that were written before it.
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

// The keys that registering memory with one device gives: for the device's own reads, and for the other side's writes.
struct RdmaKeys {
  std::uint32_t local = 0;
  std::uint32_t remote = 0;
};

// Bytes to be written into the other side's memory.
struct RdmaWrite {
  const std::byte* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t local_key = 0;
  std::uint64_t to = 0;
  std::uint32_t remote_key = 0;
  // The bytes are taken while it is posted, so `data` may go at once and needs no key; at most kMaxInlineBytes.
  bool inlined = false;
  // The other side is told, with this number, once these bytes and all before them are there.
  bool notifies = false;
  std::uint32_t notice = 0;
  // Its completion is reported here with `ticket`, and stands for all that were posted before it.
  bool reports = false;
  std::uint64_t ticket = 0;
};

inline constexpr std::uint32_t kMaxInlineBytes = 64;

struct RdmaCompletion {
  enum class Kind : std::uint8_t { kWritten, kNoticed };
  // Without initial values: who polls has room for many each time, and few come.
  Kind kind;
  std::uint64_t ticket;  // kWritten
  std::uint32_t notice;  // kNoticed
};

// One thread at a time. Nothing waits, and after set-up nothing is allocated, but for what fence() does.
class RdmaQueuePair {
 public:
  // Writes that may be outstanding: posted, and neither reported nor followed by one that was.
  static constexpr std::uint32_t kMaxWrites = 512;
  // Notices that may be on their way here: as many as the mailbox has places.
  static constexpr std::uint32_t kMaxNotices = 256;

  static constexpr std::size_t kMailboxPlaceBytes = 64;
  static constexpr std::size_t kMailboxBytes = kMaxNotices * kMailboxPlaceBytes;

  RdmaQueuePair() = default;
  RdmaQueuePair(const RdmaQueuePair&) = delete;
  RdmaQueuePair& operator=(const RdmaQueuePair&) = delete;
  virtual ~RdmaQueuePair() = default;

  // This end, for the other one to know.
  virtual RdmaEndpoint endpoint() const = 0;
  // Registered memory of kMailboxBytes that the other side writes into, and nobody here.
  virtual std::span<const std::byte> mailbox() const = 0;
  // Joins it to the other end; room for kMaxNotices is made first. Once, before anything else. What is posted before
  // the other end has been joined, too, is tried again by the device, for a while.
  virtual absl::Status connect(const RdmaEndpoint& other) = 0;

  // All of `writes`, in order, with one call to the device. Its owner sees to it that no more than kMaxWrites are
  // outstanding. A status other than OK is final and says what the device said.
  virtual absl::Status post(std::span<const RdmaWrite> writes) = 0;
  // Makes room for so many notices more. One that comes without room ends the connection.
  virtual absl::Status expect_notices(std::uint32_t count) = 0;
  // Fills in what has completed since the last call, oldest first, and returns how many that is: 0 if nothing has. A
  // status other than OK is final: the connection is dead, and it says why; what completed before is reported first.
  virtual absl::StatusOr<std::size_t> poll(std::span<RdmaCompletion> completions) = 0;
  // After this the other side can write nothing here, and nothing of what was posted is read any more. Takes as long as
  // the device does to say so. Everything else fails from then on.
  virtual void fence() = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_RDMA_RDMA_QUEUE_PAIR_H_
