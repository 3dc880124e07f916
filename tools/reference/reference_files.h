// Everything that cableway_reference writes.
#ifndef CABLEWAY_TOOLS_REFERENCE_REFERENCE_FILES_H_
#define CABLEWAY_TOOLS_REFERENCE_REFERENCE_FILES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/reference/manual_pages.h"

namespace cableway::reference {

// The manual pages, and the completions for bash, zsh and fish. NotFound: a document lacks a heading that a page needs.
absl::StatusOr<std::vector<ReferenceFile>> reference_files(const Documents& documents);

}  // namespace cableway::reference

#endif  // CABLEWAY_TOOLS_REFERENCE_REFERENCE_FILES_H_
