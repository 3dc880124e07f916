// `cableway status`: the state of the node here, as text.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_STATUS_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_STATUS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cableway/text/look.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> status_verb();

// Parses the node's answer (core/view/status_view.h). InvalidArgument: it is not a status view.
absl::StatusOr<std::string> status_text(const std::string& answer, const Look& look = {});

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_STATUS_H_
