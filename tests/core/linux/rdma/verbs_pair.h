// Two joined queue pairs of this process on one RDMA device of this host, if it has one.
#ifndef CABLEWAY_TESTS_CORE_LINUX_RDMA_VERBS_PAIR_H_
#define CABLEWAY_TESTS_CORE_LINUX_RDMA_VERBS_PAIR_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/linux/os/mapped_pages.h"
#include "core/linux/rdma/rdma_ports.h"
#include "core/linux/rdma/verbs_memory.h"
#include "core/linux/rdma/verbs_ports.h"
#include "core/linux/rdma/verbs_queue_pair.h"

namespace cableway::host::test {

struct UsableDevice {
  std::shared_ptr<VerbsDevice> device;
  VerbsGid gid;
};

// The first device that opens and has an address; else why this host has none.
inline absl::StatusOr<UsableDevice> usable_device() {
  absl::Status reason = absl::NotFoundError("this host has no RDMA device with an Ethernet link layer");
  for (const RdmaPort& found : read_rdma_ports(Sysfs())) {
    reason = absl::NotFoundError(found.name() + " has no GID");
    if (found.gids.empty()) continue;
    routing::PortAddress address = found.gids.back().address;
    if (address.is_ipv6_link_local()) address.scope = found.gids.back().interface;
    const absl::StatusOr<std::optional<VerbsPort>> port = verbs_port_of(address);
    const absl::StatusOr<std::shared_ptr<VerbsDevice>> device = VerbsDevice::open(found.device);
    if (port.ok() && port->has_value() && device.ok()) return UsableDevice{*device, (*port)->gid};
    reason = port.ok() ? device.status() : port.status();
  }
  return reason;
}

// Memory that a device may read, and write if it is a landing.
class RegisteredBytes {
 public:
  RegisteredBytes(const std::shared_ptr<VerbsDevice>& device, std::size_t bytes, bool landing)
      : pages_(MappedPages::create(bytes).value()),
        memory_(VerbsMemory::add(device, pages_.bytes().data(), bytes, VerbsRights{landing, false}).value()) {}

  std::byte* data() const { return pages_.bytes().data(); }
  std::span<std::byte> bytes() const { return pages_.bytes(); }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(data()); }
  RdmaKeys keys() const { return memory_->keys(); }

 private:
  MappedPages pages_;
  std::unique_ptr<VerbsMemory> memory_;
};

class VerbsPair {
 public:
  explicit VerbsPair(const UsableDevice& usable, const VerbsOptions& options = {})
      : left(VerbsQueuePair::create(usable.device, usable.gid, 0x123456, options).value()),
        right(VerbsQueuePair::create(usable.device, usable.gid, 0xfffff0, options).value()) {
    joined = left->connect(right->endpoint());
    if (joined.ok()) joined = right->connect(left->endpoint());
  }

  absl::Status joined;
  std::unique_ptr<VerbsQueuePair> left;
  std::unique_ptr<VerbsQueuePair> right;
};

// Polls until something has completed or failed, for 20 s at most.
inline absl::StatusOr<RdmaCompletion> next_completion(RdmaQueuePair& pair) {
  RdmaCompletion completion{};
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < until) {
    const absl::StatusOr<std::size_t> filled = pair.poll({&completion, 1});
    if (!filled.ok()) return filled.status();
    if (*filled == 1) return completion;
  }
  return absl::DeadlineExceededError("nothing has completed for 20 s");
}

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_RDMA_VERBS_PAIR_H_
