// `cableway ports`: the ports of the node here, its neighbours on them, and what is no port and why, for people.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VIEWS_PORTS_VIEW_H_
#define CABLEWAY_TOOLS_CABLEWAY_VIEWS_PORTS_VIEW_H_

#include <string>

#include "absl/status/statusor.h"

namespace cableway::cli {

// Of what the node answered (core/view/ports_view.h). InvalidArgument: those are no ports.
absl::StatusOr<std::string> ports_text(const std::string& answer);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VIEWS_PORTS_VIEW_H_
