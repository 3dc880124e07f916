// A crowd (core/flooding/admission.h) in words for an operator.
#ifndef CABLEWAY_CORE_NODE_CROWD_TEXT_H_
#define CABLEWAY_CORE_NODE_CROWD_TEXT_H_

#include <string>

#include "core/flooding/admission.h"

namespace cableway {

// `interface`: that of crowd.port; empty: not known.
//
// "the cluster advertises more than the 4096 nodes, or 32768 ports, that a node holds: 812 advertisements are left out.
// Most are of nodes behind m, on the chain n0, n1, m: check node m, and stop or disconnect it if it advertises nodes
// that do not exist"
std::string crowd_text(const Crowd& crowd, const std::string& interface);

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_CROWD_TEXT_H_
