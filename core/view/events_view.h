// A node's events as JSON, for the command line and for scripts. docs/cli.md describes the fields.
#ifndef CABLEWAY_CORE_VIEW_EVENTS_VIEW_H_
#define CABLEWAY_CORE_VIEW_EVENTS_VIEW_H_

#include <string>

#include "core/node/node.h"

namespace cableway {

std::string events_view(const Node& node);

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_EVENTS_VIEW_H_
