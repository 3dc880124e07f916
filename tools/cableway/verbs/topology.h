// `cableway topology`: the topology, drawn and listed, as JSON, as a graph for Graphviz or as a picture.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_TOPOLOGY_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_TOPOLOGY_H_

#include <memory>
#include <string>

#include "routing/topology/topology.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> topology_verb();

// The drawing, then a table of all cables; "-" where a latency is not known.
std::string topology_text(const routing::Topology& topology, const Paint& paint = Paint());

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_TOPOLOGY_H_
