// `cableway status`: what the node here is and does, for people.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_STATUS_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_STATUS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> status_verb();

// Of what the node answered (core/view/status_view.h). InvalidArgument: that is no such status.
absl::StatusOr<std::string> status_text(const std::string& answer);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_STATUS_H_
