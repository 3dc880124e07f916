// How the messages of a flow are striped over the circuits of a bundle. Both ends of a flow use the same values.
#ifndef CABLEWAY_CORE_FLOW_STRIPING_H_
#define CABLEWAY_CORE_FLOW_STRIPING_H_

#include <chrono>
#include <cstdint>

namespace cableway {

struct Striping {
  // A message up to this size goes over the primary alone, and a receive up to this size is announced only there.
  std::uint64_t small_message = 64U << 10;
  std::uint64_t chunk_bytes = 128U << 10;  // at most; a multiple of 128
  // The maximum in flight on a circuit is what it carries in `ahead`, which keeps it busy while the application's
  // thread does not run, plus twice its bandwidth-delay product; but at least `least_chunks` chunks and at most
  // `window_bytes`. The remaining chunks go to the circuit that is ready first.
  std::chrono::milliseconds ahead{8};
  std::uint64_t least_chunks = 4;
  std::uint64_t window_bytes = 2U << 20;
  // The maximum on an alternate is twice its bandwidth-delay product, at least `least_chunks` chunks and at most
  // this, since another flow's chunks queue behind it until the gate takes effect. It begins with one chunk and grows
  // with each that lands.
  std::uint64_t most_alternate_bytes = 1U << 20;
  // A circuit that was too slow to get chunks is tried again after this time, or once the fastest circuit could have
  // carried this number of chunks.
  std::uint64_t try_again_chunks = 256;
  std::chrono::milliseconds try_again{100};
  // A circuit is stuck if nothing has landed over it for `stuck` while `stuck_chunks` chunks have landed over others.
  // If fewer have, the destination itself may be stalled. The time is longer on a long or slow path
  // (FlowSender::end_stuck()).
  std::chrono::milliseconds stuck{1000};
  std::uint64_t stuck_chunks = 16;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_STRIPING_H_
