// A topology as a picture shows it: switches are nodes of their own, and cables that no path uses are drawn, too.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_DRAWABLE_TOPOLOGY_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_DRAWABLE_TOPOLOGY_H_

#include "routing/topology/topology.h"
#include "tools/cableway/picture/marked_topology.h"
#include "tools/cableway/picture/picture_marks.h"

namespace cableway::cli {

// A switch has a box, and a cable to each port, marked kSwitchPort (routing/layout/switch_boxes.h). A switch of which a
// cable is marked stays as it was. Draining and lossy cables are marked kUnused and count as usable, so that they have
// a place. The rest is as it was. Where the result is more than a topology may have, `topology` is returned. Pure.
MarkedTopology drawable_topology(const routing::Topology& topology, const PictureMarks& marks);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_DRAWABLE_TOPOLOGY_H_
