// How the messages of a flow are striped over the circuits of a bundle. Both ends of a flow use the same.
#ifndef CABLEWAY_CORE_FLOW_STRIPING_H_
#define CABLEWAY_CORE_FLOW_STRIPING_H_

#include <chrono>
#include <cstdint>

namespace cableway {

struct Striping {
  // A message that is no larger goes over the primary alone, and a receive that is no larger is announced there only.
  std::uint64_t small_message = 64U << 10;
  std::uint64_t chunk_bytes = 128U << 10;  // at most; a multiple of 128
  // How much may be in flight on a circuit: what it carries in this time, which keeps it busy although the
  // application's thread does not run all the time, and twice what is on its way; at least so many chunks, and at most
  // so many bytes. The rest is left for whichever circuit is ready first.
  std::chrono::milliseconds ahead{8};
  std::uint64_t least_chunks = 4;
  std::uint64_t window_bytes = 2U << 20;
  // On an alternate: twice what is on its way, at least least_chunks and at most this, since another flow's chunks wait
  // behind it until the gate takes effect. It begins with one chunk and grows with each that lands.
  std::uint64_t most_alternate_bytes = 1U << 20;
  // A circuit that was too slow to get anything while the fastest one could carry this many chunks, or for this long,
  // is tried again.
  std::uint64_t try_again_chunks = 256;
  std::chrono::milliseconds try_again{100};
  // A circuit is stuck if nothing has landed over it for this long while this many chunks have landed over others; if
  // fewer have, the destination may stand still. The time is longer on a long or slow path (FlowSender::end_stuck()).
  std::chrono::milliseconds stuck{1000};
  std::uint64_t stuck_chunks = 16;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_STRIPING_H_
