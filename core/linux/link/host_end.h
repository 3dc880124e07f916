// One end of a hop over a transport of this host, from its offer to its link: extends the interface of
// core/circuit/transport.h by what this host's processes do with it after the set-up.
#ifndef CABLEWAY_CORE_LINUX_LINK_HOST_END_H_
#define CABLEWAY_CORE_LINUX_LINK_HOST_END_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "core/circuit/transport.h"
#include "core/linux/link/hop_link.h"
#include "core/linux/os/unique_fd.h"
#include "core/relay/slot_kind.h"

namespace cableway::host {

class VerbsDevice;

// The device that a relay's slots are registered with, and its number on this node (VerbsDevices).
struct SlotDevice {
  std::shared_ptr<VerbsDevice> device;  // null: none
  std::size_t number = 0;
};

class HostEnd : public TransportEnd {
 public:
  // Makes the link that moves data over it after the set-up. `connection` is the one of the set-up. Call once.
  virtual absl::StatusOr<std::unique_ptr<HopLink>> make_link(UniqueFd connection, const HopLinkOptions& options) = 0;
  // The kind of slot that a relay's chunks need to cross it (relay_store.h makes slots), and the device for registered
  // memory.
  virtual SlotKind slots() const = 0;
  virtual SlotDevice slot_device() const { return {}; }
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_HOST_END_H_
