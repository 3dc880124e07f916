// One end of a hop on this host, over whichever transport its set-up agreed on: the ChunkLink that moves its data, and
// what whoever polls or sleeps for it needs to know.
#ifndef CABLEWAY_CORE_LINUX_HOP_LINK_H_
#define CABLEWAY_CORE_LINUX_HOP_LINK_H_

#include <memory>

#include "absl/status/status.h"
#include "core/chunk_link.h"
#include "core/linux/hop_connection.h"
#include "core/linux/tcp_chunk_link.h"
#include "core/linux/unique_fd.h"

namespace cableway::linux_ {

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
  // To be called now and then, for what ends a hop without a word on it: Unavailable where the cable or the host behind
  // it is silent, or the device has said that it, its port or its address is gone, or that it reports nothing there any
  // more.
  virtual absl::Status check();
  // Memory that is sent from or landed in has to be registered with it; null: it has not.
  virtual std::shared_ptr<VerbsDevice> device() const { return nullptr; }
  // Over RDMA; null: TCP. Lives as long as this.
  virtual const VerbsQueuePair* queue_pair() const { return nullptr; }
  // Fences, and gives the connection away, to be drained and closed (lingering_close.h).
  virtual UniqueFd take_socket() = 0;
};

// Where the link is, seen along the circuit.
enum class HopPlace {
  kSource,           // the flow's sender
  kDestination,      // its receiver
  kRelayUpstream,    // a relay's, towards the source
  kRelayDownstream,  // and towards the destination
};

struct HopLinkOptions {
  HopPlace place = HopPlace::kSource;
  bool last_hop = false;                                    // the destination is at one end of it
  TcpChunkLink::Slots slots = TcpChunkLink::Slots::kPipes;  // a relay's
};

// Arms completions(), where there are any, so the first one wakes.
absl::StatusOr<std::unique_ptr<HopLink>> make_hop_link(HopConnection connection, const HopLinkOptions& options);

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_HOP_LINK_H_
