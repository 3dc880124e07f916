// The cables that the topology had and no longer has, for readers that connect after the loss. Kept in memory since the
// node's start.
#ifndef CABLEWAY_CORE_LIVE_GONE_CABLES_H_
#define CABLEWAY_CORE_LIVE_GONE_CABLES_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/wall_clock.h"
#include "routing/topology/topology.h"

namespace cableway {

struct GoneCable {
  routing::Cable cable;  // as it was last; the node indices of its ends mean nothing
  std::string node_a;
  std::string node_b;
  // Names of cables with which it shared a wire, at most GoneCables::kMostTwins: those that are left may be known no
  // longer as functions of a split port.
  std::vector<std::string> twins;
  Instant gone_at;
  WallTime gone_since;
};

// Bounded: of a topology that is too large for a map (map_json.h) nothing is learned.
class GoneCables {
 public:
  static constexpr std::size_t kMost = 256;  // then the one that has been gone longest is forgotten
  static constexpr std::chrono::hours kKept{24};
  static constexpr std::size_t kMostTwins = 7;

  // To be called with each new topology. A cable that drains is not gone, nor is one that has come back.
  void learn(const routing::Topology& topology, Instant now, WallTime time);

  // In the order in which they went.
  std::vector<GoneCable> list(Instant now) const;

 private:
  using Cables = std::map<std::string, GoneCable>;  // by the cable's name; without a time while it is there

  void lose(const Cables& present, Instant now, WallTime time);
  std::vector<std::string> twins_of(const GoneCable& cable) const;
  void forget_one();

  Cables present_;
  Cables gone_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_LIVE_GONE_CABLES_H_
