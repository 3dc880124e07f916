// Whether a flow that is striped over several paths gains from another one.
#ifndef CABLEWAY_ROUTING_OFFERS_STRIPING_ROOM_H_
#define CABLEWAY_ROUTING_OFFERS_STRIPING_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "routing/paths/path.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// Counts what paths use of each direction of the parts on their way: cables, wires, connectors (plugs, and ports on a
// switch) and PCIe roots. Each path carries the rate of its slowest part.
class StripingRoom {
 public:
  // Both must outlive this. Precondition: `physical` is physical_cables(topology).
  StripingRoom(const Topology& topology, const PhysicalCables& physical);

  // Whether the paths that were added leave some of the rate of each part of this path idle.
  bool has_room(const Path& path) const;
  // Whether a wire, connector or root on the path carries less than its ports, or wires, could bring together. What
  // fills it may then come from nodes that know nothing of this flow.
  bool can_be_overfilled(const Path& path) const;
  // Whether the path has a part in common, in the same direction, with a path that was added with `takes_all`.
  bool meets_taken(const Path& path) const;

  // `takes_all`: no path that may only use what is idle gets any part of this one.
  void add(const Path& path, bool takes_all);

 private:
  struct Part {
    std::size_t place = 0;
    std::uint64_t rate_mbps = 0;
    bool can_be_overfilled = false;
  };
  struct Use {
    std::uint64_t rate_mbps = 0;
    bool is_taken = false;
  };

  std::vector<Part> parts_of(const Path& path) const;
  void append_parts(CableIndex cable, NodeIndex from, std::vector<Part>& parts) const;
  void append_connector(std::size_t connector, bool out, std::vector<Part>& parts) const;

  const Topology& topology_;
  const PhysicalCables& physical_;
  const std::size_t first_wire_;
  const std::size_t first_connector_;
  const std::size_t first_root_;
  std::vector<Use> uses_;  // by part
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_OFFERS_STRIPING_ROOM_H_
