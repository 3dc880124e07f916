// The topology to draw where one is expected: what was found, and what is missing.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_MARKED_TOPOLOGY_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_MARKED_TOPOLOGY_H_

#include <optional>

#include "routing/topology/topology.h"
#include "tools/cableway/expectation/comparison.h"
#include "tools/cableway/expectation/expected_topology.h"
#include "tools/cableway/picture/picture_marks.h"

namespace cableway::cli {

struct MarkedTopology {
  routing::Topology drawn;  // with the missing nodes and cables
  PictureMarks marks;
};

// `self`: the node of `found` that was queried. A cable that is in a wrong plug between the right nodes is only
// marked; its expected place is drawn as well where that is between other nodes. Where both together are more than a
// topology may have, what is missing is left out. Pure.
MarkedTopology mark_topology(const routing::Topology& found, std::optional<routing::NodeIndex> self,
                             const ExpectedTopology& expected, const Comparison& comparison);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_MARKED_TOPOLOGY_H_
