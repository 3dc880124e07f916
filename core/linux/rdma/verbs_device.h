// One opened RDMA device with its ports, and the protection domain that all of this process's memory and queue pairs on
// it belong to. Those hold on to it, so it goes when the last of them has.
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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/linux/os/own_descriptors.h"
#include "core/linux/rdma/verbs_library.h"

namespace cableway::host {

// A place of a port's table of addresses, and what was there when it was chosen.
struct VerbsGid {
  int index = 0;
  std::array<std::byte, 16> bytes{};
  std::uint8_t port = 1;  // of the device's ports, from 1

  friend bool operator==(const VerbsGid&, const VerbsGid&) = default;
};

// What a device says unasked.
struct VerbsEvent {
  enum class Kind : std::uint8_t { kPortError, kPortActive, kDeviceFatal, kGidChange, kQueueFatal, kOther };
  Kind kind = Kind::kOther;
  const void* queue = nullptr;  // kQueueFatal: the queue pair or completion queue that it is about
  std::uint8_t port = 0;        // kPortError, kPortActive, kGidChange: whose; 0: all of the device's
  std::string words = {};       // "RDMA device mlx5_0: port error"
};

// Any thread, but for next_event().
class VerbsDevice {
 public:
  // FailedPrecondition, NotFound and PermissionDenied say what is in the way of using it: no library, no such device or
  // no access.
  static absl::StatusOr<std::shared_ptr<VerbsDevice>> open(const std::string& name);
  // By another library than the process's, which outlives it: a test's.
  static absl::StatusOr<std::shared_ptr<VerbsDevice>> open(const std::string& name, const VerbsLibrary& library);
  VerbsDevice(const VerbsDevice&) = delete;
  VerbsDevice& operator=(const VerbsDevice&) = delete;

  const std::string& name() const { return name_; }
  // Bytes of payload that a packet of that port may have now: 256 to 4096. FailedPrecondition: the port cannot be used,
  // and why: InfiniBand below, or not active. One that is active is in no trouble any more (health()).
  absl::StatusOr<std::uint32_t> active_mtu(std::uint8_t port) const;
  // Whether the address is still where it was.
  absl::Status check_gid(const VerbsGid& gid) const;
  // Whether memory of other devices (of a GPU) may be registered by a descriptor: library, kernel and device can.
  bool supports_dmabuf() const;
  // The number of its maker (an IEEE organizationally unique identifier): 0x02c9 for NVIDIA.
  std::uint32_t vendor_id() const { return attributes_.vendor_id; }

  // Readable when next_event() has something; one thread at a time. Nothing waits. One that is gone says kDeviceFatal
  // once, and then nothing: its descriptor stays readable, and is not to be waited for any more.
  int events_fd() const;
  std::optional<VerbsEvent> next_event();
  // It has said that it failed, or was given up. Nothing that was made on it works any more, nor will.
  bool is_lost() const { return lost_.load(std::memory_order_relaxed); }
  // What it has said that no connection over that port survives, in its words: that it has failed, or the port, which
  // is not back. As of the events that have been read, and of what active_mtu() has found since.
  absl::Status health(std::uint8_t port) const;
  // What it has said last of a queue pair or completion queue that was made on it and works no more; "" if nothing, or
  // if as many as kMaxAsyncErrors others that are still there had ended so before.
  std::string last_async_error(const void* queue) const;
  static constexpr std::size_t kMaxAsyncErrors = 256;
  // To be called once that has been destroyed: another may get its place.
  void forget(const void* queue) const;
  // How often addresses have changed, of which any may be one's own (check_gid()).
  std::uint64_t gid_changes() const { return gid_changes_.load(std::memory_order_relaxed); }
  void give_up() { lost_.store(true, std::memory_order_relaxed); }
  // The kernel has taken it away, and may wait until this process lets go of it.
  bool is_removed() const;

  // For what is made on it.
  const VerbsLibrary& library() const { return *library_; }
  ibv_context* context() const { return context_.get(); }
  ibv_pd* domain() const { return domain_.get(); }
  VerbsRelease release() const { return VerbsRelease{library_}; }
  // Why a call failed with `error` (an errno), in an operator's words: ResourceExhausted says what to raise,
  // Unavailable anything else. `what` follows "cannot".
  absl::Status refused(int error, absl::string_view what) const;

 private:
  VerbsDevice(std::string name, const VerbsLibrary* library, VerbsOwned<ibv_context> context);
  absl::Status prepare();
  std::string limits() const;
  VerbsEvent read_event(const ibv_async_event& event);
  void note(const VerbsEvent& event);
  void port_is_active(std::uint8_t port, std::uint64_t errors) const;
  void update_trouble() const;

  const std::string name_;
  const VerbsLibrary* const library_;
  const VerbsOwned<ibv_context> context_;
  // The kernel has what was made on it as long as somebody has these open. Providers map parts of the first.
  const OwnDescriptor commands_;
  const OwnDescriptor events_;
  VerbsOwned<ibv_pd> domain_;
  ibv_device_attr attributes_{};
  std::atomic<bool> lost_ = false;
  mutable std::atomic<bool> in_trouble_ = false;  // any of it
  std::atomic<std::uint64_t> gid_changes_ = 0;
  std::atomic<std::uint64_t> port_errors_ = 0;                // of all ports, so far
  mutable std::mutex mutex_;                                  // only where there is trouble
  mutable std::map<std::uint8_t, std::string> port_trouble_;  // what it said, by port
  std::string failure_;                                       // and of itself
  mutable std::map<const void*, std::string> async_errors_;   // and of queues
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_DEVICE_H_
