// Ensures that data that a device has written to a GPU's memory has arrived there.
#ifndef CABLEWAY_CORE_LINUX_LINK_MEMORY_FLUSH_H_
#define CABLEWAY_CORE_LINUX_LINK_MEMORY_FLUSH_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace cableway::host {

// Used by one thread at a time. After construction it neither blocks nor allocates.
class MemoryFlush {
 public:
  // Limit of reads in flight.
  static constexpr std::uint32_t kMaxReads = 32;

  MemoryFlush() = default;
  virtual ~MemoryFlush() = default;
  MemoryFlush(const MemoryFlush&) = delete;
  MemoryFlush& operator=(const MemoryFlush&) = delete;

  // Reads the byte at `address`, in memory registered with remote_read on this device under `remote_key`. Returns the
  // read's number, counting from 0. At most kMaxReads may be in flight. A status other than OK is final.
  virtual absl::StatusOr<std::uint64_t> read(std::uint64_t address, std::uint32_t remote_key) = 0;
  // The number of the next read.
  virtual std::uint64_t next() const = 0;
  // Whether a read is complete. A failure is reported only for reads that are not.
  virtual absl::StatusOr<bool> done(std::uint64_t read) = 0;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_MEMORY_FLUSH_H_
