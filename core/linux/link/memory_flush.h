// What makes sure that data which a device has written into a GPU's memory has arrived there.
#ifndef CABLEWAY_CORE_LINUX_LINK_MEMORY_FLUSH_H_
#define CABLEWAY_CORE_LINUX_LINK_MEMORY_FLUSH_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace cableway::host {

// One thread at a time. Once made, nothing waits and nothing is allocated.
class MemoryFlush {
 public:
  // That may be under way at once.
  static constexpr std::uint32_t kMaxReads = 32;

  MemoryFlush() = default;
  virtual ~MemoryFlush() = default;
  MemoryFlush(const MemoryFlush&) = delete;
  MemoryFlush& operator=(const MemoryFlush&) = delete;

  // Reads the byte at `address`, of memory that is registered with remote_read on this device and has `remote_key`. The
  // read's number: they count from 0. At most kMaxReads may be under way. A status other than OK is final.
  virtual absl::StatusOr<std::uint64_t> read(std::uint64_t address, std::uint32_t remote_key) = 0;
  // The number of the next read.
  virtual std::uint64_t next() const = 0;
  // Whether a read is back. Why none comes back any more is said of those only that are not.
  virtual absl::StatusOr<bool> done(std::uint64_t read) = 0;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_MEMORY_FLUSH_H_
