// One end of a hop on this host, over the transport that its set-up agreed on: the ChunkLink that moves its data, and
// what the polling or sleeping thread needs for it.
#ifndef CABLEWAY_CORE_LINUX_LINK_HOP_LINK_H_
#define CABLEWAY_CORE_LINUX_LINK_HOP_LINK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/flow/chunk_link.h"
#include "core/linux/link/memory_registrar.h"
#include "core/linux/os/unique_fd.h"
#include "core/relay/slot_kind.h"

namespace cableway::host {

// Used by one thread at a time.
class HopLink {
 public:
  HopLink() = default;
  HopLink(const HopLink&) = delete;
  HopLink& operator=(const HopLink&) = delete;
  virtual ~HopLink() = default;

  virtual ChunkLink& link() = 0;
  // The connection of the set-up: it carries the data itself, or accompanies it.
  virtual int socket() const = 0;
  // A second descriptor that a sleeping thread must wait for. -1: there is only the socket, or the thread polls.
  virtual int completions() const { return -1; }
  // Handles an event of the socket. Call progress() afterwards until nothing moves.
  virtual void on_readable(bool ended) = 0;
  // take_completions() consumes the event of completions(), which then signals no more until it is armed. Once armed,
  // the next completion signals, once; earlier completions do not, so call progress() until nothing moves after arming.
  // A polling thread does not arm.
  virtual void take_completions() {}
  virtual absl::Status arm_completions() { return absl::OkStatus(); }
  // Whether the other end may wait for an answer that needs a poll here, although no data is sent or received.
  virtual bool needs_idle_polls() const { return false; }
  // Call periodically. Detects failures that the connection does not signal: Unavailable if the cable or the host
  // behind it is silent, or if the device has reported that it, its port or its address is gone, or that it delivers no
  // more events.
  virtual absl::Status check() = 0;

  // The registrar for memory that data is sent from or lands in. Memory must be registered before that. The registrar
  // lives as long as the link. Null: the kernel moves the data, and memory needs no registration.
  virtual const MemoryRegistrar* registrar() const { return nullptr; }

  // Fences, and releases the connection, to be drained and closed (lingering_close.h).
  virtual UniqueFd take_socket() = 0;
};

// The link's position in the circuit.
enum class HopPlace : std::uint8_t {
  kSource,           // at the flow's sender
  kDestination,      // at the flow's receiver
  kRelayUpstream,    // at a relay, towards the source
  kRelayDownstream,  // at a relay, towards the destination
};

struct HopLinkOptions {
  HopPlace place = HopPlace::kSource;
  bool last_hop = false;                     // the hop ends at the destination
  SlotKind slots = SlotKind::kUnregistered;  // at a relay
  bool checksums = true;  // whether this end makes and checks checksums of chunks over TCP (core/flow/chunk_checksum.h)
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_HOP_LINK_H_
