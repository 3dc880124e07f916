// `cableway status`: what the node here is and does, for people.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VIEWS_STATUS_VIEW_H_
#define CABLEWAY_TOOLS_CABLEWAY_VIEWS_STATUS_VIEW_H_

#include <string>

#include "absl/status/statusor.h"

namespace cableway::cli {

// Of what the node answered (core/view/status_view.h). InvalidArgument: that is no such status.
absl::StatusOr<std::string> status_text(const std::string& answer);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VIEWS_STATUS_VIEW_H_
