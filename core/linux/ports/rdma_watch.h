// Follows the asynchronous events of RDMA devices: ports that fail and recover, addresses that change, and fatal errors
// of the devices.
#ifndef CABLEWAY_CORE_LINUX_PORTS_RDMA_WATCH_H_
#define CABLEWAY_CORE_LINUX_PORTS_RDMA_WATCH_H_

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/rdma/verbs_device.h"

namespace cableway::host {

// Holds open exactly the devices that follow() names. A device that has failed or was removed is closed, and reopened
// after a pause that doubles up to half a minute; the same applies to a device that cannot be opened. If this host
// lacks a prerequisite for opening, only follow() retries. Wakes up only for device events and those pauses. Lives on
// the thread that runs `io`, on which all calls are made.
class RdmaWatch {
 public:
  class Device {
   public:
    virtual ~Device() = default;
    // As in VerbsDevice.
    virtual int events_fd() const = 0;
    virtual std::optional<VerbsEvent> next_event() = 0;
    virtual absl::StatusOr<std::uint32_t> active_mtu(std::uint8_t port) const = 0;
  };
  using Open = std::function<absl::StatusOr<std::unique_ptr<Device>>(const std::string& device)>;
  // Receives a device's events since the last call, except those of its queue pairs. No events: a device that had
  // failed is open again. May destroy the watch.
  using OnEvents = std::function<void(const std::string& device, const std::vector<VerbsEvent>& events)>;

  RdmaWatch(boost::asio::io_context& io, Open open, OnEvents on_events);
  ~RdmaWatch();
  RdmaWatch(const RdmaWatch&) = delete;
  RdmaWatch& operator=(const RdmaWatch&) = delete;

  // Replaces the set of followed devices. Opens those that are not open; makes no callback.
  void follow(const std::set<std::string>& devices);
  // Why a followed device cannot be used; "" if no reason is known.
  std::string trouble(const std::string& device) const;
  // Bytes; 0 if the device does not report it.
  std::uint32_t active_mtu(const std::string& device, std::uint8_t port) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Opens devices of this host through libibverbs, from VerbsDevices::of_this_process(), which is notified when one is
// gone.
RdmaWatch::Open open_verbs_devices();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_RDMA_WATCH_H_
