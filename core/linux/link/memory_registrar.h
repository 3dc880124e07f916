// Registers memory with the device that moves a hop's data.
#ifndef CABLEWAY_CORE_LINUX_LINK_MEMORY_REGISTRAR_H_
#define CABLEWAY_CORE_LINUX_LINK_MEMORY_REGISTRAR_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/linux/link/memory_flush.h"

namespace cableway::host {

// Memory that a device may access for the lifetime of this object, which must not exceed the memory's. Callable from
// any thread.
class RegisteredMemory {
 public:
  RegisteredMemory() = default;
  virtual ~RegisteredMemory() = default;
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;

  // For sending from it, and for landing in it (FlowBuffer, FlowLanding).
  virtual std::uint32_t local_key() const = 0;
  virtual std::uint32_t remote_key() const = 0;
};

// The access to memory beyond sending from it; the device rejects all other access.
struct MemoryAccess {
  bool lands = false;    // the hop's other end writes to it, in order
  bool flushes = false;  // a MemoryFlush reads it

  friend bool operator==(const MemoryAccess&, const MemoryAccess&) = default;
  friend auto operator<=>(const MemoryAccess&, const MemoryAccess&) = default;
};

// For set-up only: it may block and allocate. Callable from any thread.
class MemoryRegistrar {
 public:
  // Identifies the device: a registration serves all hops whose registrars return the same. Another device may return
  // it once no registration of this one exists. Not to be dereferenced.
  virtual const void* device() const = 0;
  // Exactly the bytes of `data`; at least one. The pages are locked. ResourceExhausted names the limit to raise.
  virtual absl::StatusOr<std::unique_ptr<RegisteredMemory>> add(void* data, std::size_t bytes,
                                                                MemoryAccess access) const = 0;
  // Another device's memory, by its dmabuf `fd`, which may be closed afterwards; `bytes` from `offset` on are written
  // and read as though they were at `address`; at least one.
  virtual absl::StatusOr<std::unique_ptr<RegisteredMemory>> add_dmabuf(int fd, std::uint64_t offset, std::size_t bytes,
                                                                       std::uint64_t address,
                                                                       MemoryAccess access) const = 0;
  virtual absl::StatusOr<std::unique_ptr<MemoryFlush>> make_flush() const = 0;

 protected:
  ~MemoryRegistrar() = default;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_MEMORY_REGISTRAR_H_
