// The topology to draw with the cables that were there and are gone.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_GONE_DRAWING_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_GONE_DRAWING_H_

#include <optional>

#include "routing/topology/topology.h"
#include "tools/cableway/node/gone_cables.h"
#include "tools/cableway/picture/marked_topology.h"

namespace cableway::cli {

// `self` as in mark_topology(). A cable between nodes that have left the topology is not drawn. Pure.
MarkedTopology with_gone_cables(const routing::Topology& found, std::optional<routing::NodeIndex> self,
                                const GoneCables& gone);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_GONE_DRAWING_H_
