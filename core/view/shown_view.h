// What a node shows of itself to other nodes of its cluster: a fixed list of views, smaller than those that its own
// processes get. None has keys or their fingerprints, names of files, or what concerns the host beyond its cable ports.
// docs/security.md is the same list for operators, docs/decisions/0031 the reasons.
#ifndef CABLEWAY_CORE_VIEW_SHOWN_VIEW_H_
#define CABLEWAY_CORE_VIEW_SHOWN_VIEW_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/view/view_table.h"

namespace cableway {

// What an interface has carried since it was made.
struct PortBytes {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

// By interface.
using ReadPortBytes = std::function<std::map<std::string, PortBytes>()>;

// "status", "ports", "flows" or "doctor", as JSON without spaces. NotFound: there is none of that name.
absl::StatusOr<std::string> shown_view(std::string_view name, const ViewSources& sources,
                                       const ReadPortBytes& port_bytes);

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_SHOWN_VIEW_H_
