// Writes the files of a plan into a folder.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLAN_FOLDER_H_
#define CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLAN_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cableway/address_plan/plan_files.h"

namespace cableway::cli {

// Creates the folder where there is none. A file of the same content is left as it is. FailedPrecondition names the
// file or folder and why it cannot be written; a file of other content is refused before anything is written, unless
// `overwrite`, and what is not a regular file (a link, a folder) always.
absl::Status write_plan(const std::string& folder, const std::vector<PlanFile>& files, bool overwrite);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLAN_FOLDER_H_
