// `cableway sim`: runs what the options ask for, and hands the results to the views.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_COMMAND_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_COMMAND_H_

#include <iosfwd>

#include "absl/status/statusor.h"
#include "core/settings/settings.h"
#include "tools/cableway/answer.h"
#include "tools/cableway/command_line.h"
#include "tools/cableway/request.h"

namespace cableway::cli {

// Progress goes to `err`. Errors are those of find_answer(); options that make no sense are an answer with kNotUsable.
absl::StatusOr<Answer> simulate(const Request& request, const Settings& settings, const Surroundings& surroundings,
                                std::ostream& err);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_COMMAND_H_
