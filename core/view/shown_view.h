// What a node shows of itself to other nodes of its cluster: a fixed list of views, smaller than those that its own
// processes get. None has keys or their fingerprints, names of files, or what concerns the host beyond its cable ports.
// docs/security.md is the same list for operators, docs/decisions/0031 the reasons.
#ifndef CABLEWAY_CORE_VIEW_SHOWN_VIEW_H_
#define CABLEWAY_CORE_VIEW_SHOWN_VIEW_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/view/view_table.h"

namespace cableway {

// "status", "ports", "flows" or "doctor", as JSON without spaces. NotFound: there is none of that name.
absl::StatusOr<std::string> shown_view(std::string_view name, const ViewSources& sources);

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_SHOWN_VIEW_H_
