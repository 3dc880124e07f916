// One end of a hop over a transport of this host, from its offer to its link: what core/circuit/transport.h knows of
// it, and what the processes here do with it once the set-up is done.
#ifndef CABLEWAY_CORE_LINUX_LINK_HOST_END_H_
#define CABLEWAY_CORE_LINUX_LINK_HOST_END_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "core/circuit/transport.h"
#include "core/linux/link/hop_link.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// With which device a relay's slots are registered, and its number on this node (VerbsDevices).
struct SlotDevice {
  std::shared_ptr<VerbsDevice> device;  // null: none
  std::size_t number = 0;
};

class HostEnd : public TransportEnd {
 public:
  // The link that moves data over it, once the set-up is done. `connection` is the one that it was set up on. Once.
  virtual absl::StatusOr<std::unique_ptr<HopLink>> make_link(UniqueFd connection, const HopLinkOptions& options) = 0;
  // What a relay's chunks have to be in to cross it (relay_store.h makes those), and for registered memory where.
  virtual SlotKind slots() const = 0;
  virtual SlotDevice slot_device() const { return {}; }
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_HOST_END_H_
