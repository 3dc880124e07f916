#include "tools/cableway/node/node_by_name.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"

namespace cableway::cli {

absl::StatusOr<routing::NodeIndex> node_by_name(const routing::Topology& topology, const std::string& name) {
  if (const std::optional<routing::NodeIndex> node = topology.find_node(name)) return *node;
  constexpr std::size_t kNamesShown = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(topology.node_count(), kNamesShown); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ", topology.nodes()[i].name);
  }
  if (topology.node_count() > kNamesShown) absl::StrAppend(&names, ", ..");
  return absl::InvalidArgumentError(
      absl::StrCat("the topology has no node ", routing::in_quotes(name), "; expected one of ", names));
}

}  // namespace cableway::cli
