// A node's state as JSON, for the command line and for scripts. docs/cli.md describes the fields.
#ifndef CABLEWAY_CORE_STATUS_VIEW_H_
#define CABLEWAY_CORE_STATUS_VIEW_H_

#include <cstddef>
#include <string>

#include "core/node.h"
#include "core/relay_status.h"

namespace cableway {

std::string status_view(const Node& node, const RelayStatus& relay, std::size_t sessions);

}  // namespace cableway

#endif  // CABLEWAY_CORE_STATUS_VIEW_H_
