// One opened RDMA device with its ports, and the protection domain of all this process's memory and queue pairs on it.
// Memory and queue pairs share ownership of the device, so it is closed after the last of them.
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_DEVICE_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_DEVICE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/linux/os/own_descriptors.h"
#include "core/linux/rdma/verbs_library.h"

namespace cableway::host {

// An address of a port, as a RoCE v2 GID. Its index in the device's table is looked up for each use
// (VerbsDevice::find_gid()): it changes when addresses are added and removed.
struct VerbsGid {
  int index = 0;  // where it was last found
  std::array<std::byte, 16> bytes{};
  std::uint8_t port = 1;        // port number on the device, from 1
  std::uint32_t interface = 0;  // the kernel's index of the interface with the address; 0: any

  friend bool operator==(const VerbsGid&, const VerbsGid&) = default;
};

// An asynchronous event of a device.
struct VerbsEvent {
  enum class Kind : std::uint8_t { kPortError, kPortActive, kDeviceFatal, kGidChange, kQueueFatal, kOther };
  Kind kind = Kind::kOther;
  const void* queue = nullptr;  // kQueueFatal: the queue pair or completion queue concerned
  std::uint8_t port = 0;        // kPortError, kPortActive, kGidChange: the port; 0: all of the device's
  std::string words = {};       // "RDMA device mlx5_0: port error"
};

// Callable from any thread, except next_event().
class VerbsDevice {
 public:
  // FailedPrecondition, NotFound and PermissionDenied explain why it cannot be used: no library, no such device or no
  // access.
  static absl::StatusOr<std::shared_ptr<VerbsDevice>> open(const std::string& name);
  // Through another library than the process's, for tests. `library` must outlive it.
  static absl::StatusOr<std::shared_ptr<VerbsDevice>> open(const std::string& name, const VerbsLibrary& library);
  VerbsDevice(const VerbsDevice&) = delete;
  VerbsDevice& operator=(const VerbsDevice&) = delete;

  const std::string& name() const { return name_; }
  // The payload in bytes that a packet of that port may have now: 256 to 4096. FailedPrecondition explains why the
  // port cannot be used: its link layer is InfiniBand, or it is not active. This clears a recorded failure of an
  // active port (health()).
  absl::StatusOr<std::uint32_t> active_mtu(std::uint8_t port) const;
  // The same address with its current index. FailedPrecondition: the device's table does not have it; the address may
  // have been removed. With an rdma-core older than 32 an address whose index has changed is not found.
  absl::StatusOr<VerbsGid> find_gid(const VerbsGid& gid) const;
  // Whether memory of other devices (of a GPU) can be registered by a descriptor: requires library, kernel and device
  // support.
  bool supports_dmabuf() const;
  // The vendor ID (an IEEE organizationally unique identifier): 0x02c9 for NVIDIA.
  std::uint32_t vendor_id() const { return attributes_.vendor_id; }

  // Readable when next_event() has an event; neither blocks. One thread at a time. A device that is gone reports
  // kDeviceFatal once, and then nothing: its descriptor stays readable, so stop polling it.
  int events_fd() const;
  std::optional<VerbsEvent> next_event();
  // The device has reported a fatal error, or was given up. Nothing that was made on it works, now or later.
  bool is_lost() const { return lost_.load(std::memory_order_relaxed); }
  // A failure that no connection over that port survives, as the device reported it: a failure of the device, or of
  // the port if the port has not recovered. Reflects the events that have been read, and later results of
  // active_mtu().
  absl::Status health(std::uint8_t port) const;
  // The last error event of a queue pair or completion queue that was made on it; "" if there was none, or if
  // kMaxAsyncErrors other existing ones had failed before.
  std::string last_async_error(const void* queue) const;
  static constexpr std::size_t kMaxAsyncErrors = 256;
  // Call once the queue has been destroyed: a new one may get its address.
  void forget(const void* queue) const;
  // The number of changes of this device's GIDs. After a change, find_gid() shows whether an address still exists.
  std::uint64_t gid_changes() const { return gid_changes_.load(std::memory_order_relaxed); }
  void give_up() { lost_.store(true, std::memory_order_relaxed); }
  // The kernel has removed the device, and may wait until this process closes it.
  bool is_removed() const;

  // For objects that are made on it.
  const VerbsLibrary& library() const { return *library_; }
  ibv_context* context() const { return context_.get(); }
  ibv_pd* domain() const { return domain_.get(); }
  VerbsRelease release() const { return VerbsRelease{library_}; }
  // Why a call failed with `error` (an errno), for an operator: ResourceExhausted names the limit to raise, all else is
  // Unavailable. `what` follows "cannot".
  absl::Status refused(int error, absl::string_view what) const;

 private:
  VerbsDevice(std::string name, const VerbsLibrary* library, VerbsOwned<ibv_context> context);
  absl::Status prepare();
  std::string limits() const;
  absl::StatusOr<std::vector<ibv_gid_entry>> read_gids(std::uint8_t port) const;
  VerbsEvent read_event(const ibv_async_event& event);
  void note(const VerbsEvent& event);
  void note_active_port(std::uint8_t port, std::uint64_t errors) const;
  void update_trouble() const;

  const std::string name_;
  const VerbsLibrary* const library_;
  const VerbsOwned<ibv_context> context_;
  // The kernel keeps what was made on the device while any process has these open. Providers map parts of the first.
  const OwnDescriptor commands_;
  const OwnDescriptor events_;
  VerbsOwned<ibv_pd> domain_;
  ibv_device_attr attributes_{};
  std::atomic<bool> lost_ = false;
  mutable std::atomic<bool> in_trouble_ = false;  // whether any trouble is recorded below
  std::atomic<std::uint64_t> gid_changes_ = 0;
  std::atomic<std::uint64_t> port_errors_ = 0;                // of all ports, in total
  mutable std::mutex mutex_;                                  // taken only after a failure
  mutable std::map<std::uint8_t, std::string> port_trouble_;  // the reported error, by port
  std::string failure_;                                       // of the device
  mutable std::map<const void*, std::string> async_errors_;   // by queue
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_DEVICE_H_
