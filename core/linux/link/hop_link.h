// One end of a hop on this host, over whichever transport its set-up agreed on: the ChunkLink that moves its data, and
// what whoever polls or sleeps for it needs to know.
#ifndef CABLEWAY_CORE_LINUX_LINK_HOP_LINK_H_
#define CABLEWAY_CORE_LINUX_LINK_HOP_LINK_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/flow/chunk_link.h"
#include "core/linux/link/memory_flush.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

class VerbsDevice;

// One thread at a time.
class HopLink {
 public:
  HopLink() = default;
  HopLink(const HopLink&) = delete;
  HopLink& operator=(const HopLink&) = delete;
  virtual ~HopLink() = default;

  virtual ChunkLink& link() = 0;
  // The connection that was set up: of the data itself, or beside it.
  virtual int socket() const = 0;
  // Whoever sleeps is woken by this, too; -1: there is nothing but the socket, or whoever has this polls it.
  virtual int completions() const { return -1; }
  // What woke it at the socket. Then progress() until nothing moves.
  virtual void on_readable(bool ended) = 0;
  // Takes what woke it at completions(), which wakes no more until it is armed. Armed, the next completion wakes, once;
  // what has completed by then does not, so progress() until nothing moves comes after it. Who polls arms nothing.
  virtual void take_completions() {}
  virtual absl::Status arm_completions() { return absl::OkStatus(); }
  // Whether the other end may wait for an answer that only a poll gives, although nothing is sent or received here.
  virtual bool needs_idle_polls() const { return false; }
  // To be called now and then, for what ends a hop without a word on it: Unavailable where the cable or the host behind
  // it is silent, or the device has said that it, its port or its address is gone, or that it reports nothing there any
  // more.
  virtual absl::Status check() = 0;

  // Memory that is sent from or landed in has to be registered with it; null: it has not.
  virtual std::shared_ptr<VerbsDevice> device() const { return nullptr; }
  // For links with a device.
  virtual absl::StatusOr<std::unique_ptr<MemoryFlush>> make_flush() const {
    return absl::FailedPreconditionError("this hop has no RDMA device");
  }

  // Fences, and gives the connection away, to be drained and closed (lingering_close.h).
  virtual UniqueFd take_socket() = 0;
};

// Where the link is, seen along the circuit.
enum class HopPlace : std::uint8_t {
  kSource,           // the flow's sender
  kDestination,      // its receiver
  kRelayUpstream,    // a relay's, towards the source
  kRelayDownstream,  // and towards the destination
};

// What a relay keeps chunks in while they pass. The greater of what a circuit's two hops need serves both.
enum class SlotKind : std::uint8_t { kPipe, kRegistered };

struct HopLinkOptions {
  HopPlace place = HopPlace::kSource;
  bool last_hop = false;             // the destination is at one end of it
  SlotKind slots = SlotKind::kPipe;  // a relay's
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_LINK_HOP_LINK_H_
