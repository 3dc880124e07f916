// Finds cables that drop large packets: a switch without jumbo frames, or a lower MTU that only one direction meets.
// Small hellos pass there, so every second hello of a port is padded until its IP packet has the port's full MTU. A
// cable is up only while these arrive at both ends; hellos report whether they do (FullSize).
//
//   - Every second, and the first. The small ones in between suffice to find and name a neighbour whose full-size ones
//     are lost. Changes are announced by hellos 10 ms apart, so a new cable waits for a full-size one for one hello at
//     most.
//   - They may be missing for kFullSizeEvery hold times. That is as many of them in a row as of all hellos in one hold
//     time, so a cable with random losses fails no sooner than it would without them.
//   - A packet is at most kMaxDatagramBytes and its headers, even where the MTU is larger (loopback: 65,536). Whether
//     larger ones pass is not tested there.
//   - They carry no times: they need longer than other hellos, and would be measured as latency (cable_latencies.h).
#ifndef CABLEWAY_CORE_DISCOVERY_FULL_SIZE_HELLOS_H_
#define CABLEWAY_CORE_DISCOVERY_FULL_SIZE_HELLOS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/discovery/neighbour.h"
#include "core/discovery/port_hello.h"
#include "core/ports/port_inventory.h"

namespace cableway {

inline constexpr int kFullSizeEvery = 2;

// The size of a full-size hello's datagram. One that is larger is sent in fragments; the first has the full MTU, too.
std::size_t full_size_bytes(std::uint32_t mtu, bool is_ipv6);

// One thread: the node's.
class FullSizeHellos {
 public:
  // Whether the next hello of the port is a full-size one.
  bool is_next(PortId port) { return hellos_[port]++ % kFullSizeEvery == 0; }

  // A hello has arrived, in a datagram of `bytes`: even one that is outdated has crossed the cable. Returns whether the
  // neighbour should learn soon that its full-size hellos arrive.
  bool hear(const NeighbourKey& key, const PortHello& hello, std::size_t bytes, bool is_ipv6, Instant now);
  // The neighbour's newest hello says this about the full-size ones from here.
  void learn(const NeighbourKey& key, FullSize there) { heard_[key].there = there; }
  void forget(const NeighbourKey& key) { heard_.erase(key); }
  // Forgets all other ports.
  void keep_ports(const std::vector<PortFacts>& ports);
  // This node has stalled for this long, and may not have read what arrived.
  void extend_holds(Duration stall);

  // Whether those of the neighbour arrive here.
  FullSize arrivals(const NeighbourKey& key, Instant now) const;
  // Whether they arrive at both ends.
  bool pass(const NeighbourKey& key, Instant now) const;
  // The directions in which only small hellos arrive.
  LargePacketLoss loss(const NeighbourKey& key, Instant now) const;

 private:
  struct Heard {
    std::uint32_t mtu = 0;
    bool arrived = false;  // one of this MTU
    Instant since;         // the last one, or when they were first expected
    Duration hold{0};
    Duration hold_extension{0};
    FullSize there = FullSize::kAwaited;  // of this node's hellos, at the neighbour
  };

  std::map<PortId, std::uint64_t> hellos_;
  std::map<NeighbourKey, Heard> heard_;
};

// Names the directions of the loss, the size and what to check. `loss` is in some direction.
std::string explain_loss(const PortFacts& port, const Neighbour& neighbour, const LargePacketLoss& loss);

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_FULL_SIZE_HELLOS_H_
