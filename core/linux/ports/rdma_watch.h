// Follows what RDMA devices say unasked: ports that fail and come back, addresses that change, and that they have
// failed themselves.
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

// Holds the devices open that it is told to follow, and no others. A device that has failed or is gone is closed, and
// opened again after a pause that doubles up to half a minute; so is one that cannot be opened, except where this host
// lacks what that takes, which is looked for again with follow() only. Wakes for what devices say and for those pauses.
// Lives on the thread that runs `io`, on which everything is called.
class RdmaWatch {
 public:
  class Device {
   public:
    virtual ~Device() = default;
    // As VerbsDevice has them.
    virtual int events_fd() const = 0;
    virtual std::optional<VerbsEvent> next_event() = 0;
    virtual absl::StatusOr<std::uint32_t> active_mtu(std::uint8_t port) const = 0;
  };
  using Open = std::function<absl::StatusOr<std::unique_ptr<Device>>(const std::string& device)>;
  // What a device has said since the last call; what is its queue pairs' alone is left out. Nothing: one that was in
  // trouble is open again. May destroy the watch.
  using Said = std::function<void(const std::string& device, const std::vector<VerbsEvent>& events)>;

  RdmaWatch(boost::asio::io_context& io, Open open, Said said);
  ~RdmaWatch();
  RdmaWatch(const RdmaWatch&) = delete;
  RdmaWatch& operator=(const RdmaWatch&) = delete;

  // These and no others, from now on. Opens what is not open; calls nobody.
  void follow(const std::set<std::string>& devices);
  // Why a device that is followed cannot be used; "" where nothing is known to be in the way.
  std::string trouble(const std::string& device) const;
  // Bytes; 0 where the device does not say.
  std::uint32_t active_mtu(const std::string& device, std::uint8_t port) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Devices of this host, through libibverbs: those of VerbsDevices::of_this_process(), whom it tells when one is gone.
RdmaWatch::Open open_verbs_devices();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_RDMA_WATCH_H_
