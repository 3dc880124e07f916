// What several cables share, as compact lists for ranking paths: wires, ports, plugs and PCIe links
// (physical_cable.h).
#ifndef CABLEWAY_ROUTING_PATHS_CABLE_PARTS_H_
#define CABLEWAY_ROUTING_PATHS_CABLE_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// A part that a crossing of a cable uses. Full duplex: a port, plug or root is one part for what leaves its node, and
// another for what enters it.
struct PartUse {
  std::uint32_t part = 0;
  // The share of the part's rate that the fastest of its cables fills, in units of 1/kWholePart, at least 1. Flows over
  // two functions of one wire need not slow each other down; flows through a root that each function fills do.
  std::uint32_t weight = 0;
  friend bool operator==(const PartUse&, const PartUse&) = default;
};
inline constexpr std::uint32_t kWholePart = 16;

// Immutable; safe to read from any thread.
class CableParts {
 public:
  // Null if no two cables share a part: then O(nodes + cables). Otherwise takes as long as physical_cables(). Pure.
  static std::shared_ptr<const CableParts> find(const Topology& topology);

  // Parts are numbered from 0 to count() - 1. The first ones are the cables themselves, by CableIndex.
  std::size_t count() const { return count_; }
  // The cable itself first, with kWholePart; then its parts that other cables share.
  std::span<const PartUse> of(CableIndex cable, bool from_a) const {
    const std::size_t place = 2ULL * cable.value + (from_a ? 0 : 1);
    return std::span(uses_).subspan(begin_[place], begin_[place + 1] - begin_[place]);
  }
  // The wire that the cable is part of: equal for cables of one wire.
  std::size_t wire(CableIndex cable) const { return wire_[cable.value]; }
  // The place of the plug at which a crossing leaves among the known plugs of its node, by name; 0 without a plug.
  std::uint32_t plug_place(CableIndex cable, bool from_a) const {
    return plug_place_[2ULL * cable.value + (from_a ? 0 : 1)];
  }

  friend bool operator==(const CableParts&, const CableParts&) = default;

 private:
  friend class CablePartsBuilder;
  CableParts() = default;

  std::size_t count_ = 0;
  std::vector<std::uint32_t> begin_;  // by cable and direction, plus an end: offsets into uses_
  std::vector<PartUse> uses_;
  std::vector<std::size_t> wire_;          // by cable
  std::vector<std::uint32_t> plug_place_;  // by cable and direction
};

// The cables of a topology whose shared parts, their weights or plug_place() change when cables are removed or added.
// `new_cable` has for each cable of `before` its number in `after`, or kGoneCable. `before` and `after` may be null:
// there are no shared parts. O(cables). The result may have more cables than necessary, never fewer.
inline constexpr std::uint32_t kGoneCable = 0xffffffff;
std::vector<CableIndex> cables_with_changed_parts(const CableParts* before, const CableParts* after,
                                                  std::span<const std::uint32_t> new_cable);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_CABLE_PARTS_H_
