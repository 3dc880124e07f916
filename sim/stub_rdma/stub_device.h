// A simulated RDMA device: the memory registered with it, and the keys. Queue pairs between such devices are in
// stub_queue_pair.h, the wires between them in stub_network.h.
//
// A key is valid for one registration of one device only: not for other devices, not after deregistration, and a local
// key is not a remote one.
#ifndef CABLEWAY_SIM_STUB_RDMA_STUB_DEVICE_H_
#define CABLEWAY_SIM_STUB_RDMA_STUB_DEVICE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "core/rdma/rdma_queue_pair.h"

namespace cableway::sim {

class StubDevice;

// A memory registration; deregisters on destruction. The device outlives it.
class StubMemory {
 public:
  StubMemory(StubMemory&& other) noexcept;
  StubMemory& operator=(StubMemory&& other) noexcept;
  ~StubMemory();

  // The remote key is 0 if the peer may not write here.
  const RdmaKeys& keys() const { return keys_; }

 private:
  friend class StubDevice;
  StubMemory(StubDevice& device, RdmaKeys keys) : device_(&device), keys_(keys) {}

  StubDevice* device_;
  RdmaKeys keys_;
};

class StubDevice {
 public:
  // `number`: 1 to 511, unique in a network.
  explicit StubDevice(std::uint16_t number) : number_(number) {}
  StubDevice(const StubDevice&) = delete;
  StubDevice& operator=(const StubDevice&) = delete;

  // Registers memory that the device reads, and memory that the peer may write, too. At most 16,384 at a time.
  StubMemory register_memory(std::span<const std::byte> memory) { return add(memory, false); }
  StubMemory register_writable(std::span<std::byte> memory) { return add(memory, true); }
  std::size_t registrations() const { return registrations_.size() - free_.size(); }

  // Whether the device may read these bytes, and whether the peer may write them; errors are worded like a device's.
  absl::Status check_read(const std::byte* data, std::uint32_t bytes, std::uint32_t local_key) const;
  absl::Status check_write(std::uint64_t to, std::uint32_t bytes, std::uint32_t remote_key) const;

  std::array<std::byte, 16> gid() const;

 private:
  friend class StubMemory;
  struct Registration {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint8_t age = 0;  // of the key: incremented for the next registration here
    bool writable = false;
    bool active = false;
  };

  StubMemory add(std::span<const std::byte> memory, bool writable);
  void remove(std::uint32_t local_key);
  const Registration* find(std::uint32_t local_key) const;

  const std::uint16_t number_;
  std::vector<Registration> registrations_;
  std::vector<std::uint32_t> free_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_STUB_RDMA_STUB_DEVICE_H_
