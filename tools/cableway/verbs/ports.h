// `cableway ports`: the ports of the node here, its neighbours on them, and the unused interfaces and why, as text.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_PORTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_PORTS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cableway/text/look.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> ports_verb();

// Parses the node's answer (core/view/ports_view.h). InvalidArgument: it is not a ports view.
absl::StatusOr<std::string> ports_text(const std::string& answer, const Look& look = {});

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_PORTS_H_
