#include "core/node/crowd_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/link_state/advertisement_weight.h"

namespace cableway {
namespace {

constexpr std::size_t kShownNodes = 8;

std::string chain_text(const std::vector<std::string>& chain) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(chain.size(), kShownNodes));
  return absl::StrCat(absl::StrJoin(chain.begin(), chain.begin() + shown, ", "),
                      chain.size() > kShownNodes ? ", .." : "");
}

std::string where_text(const Crowd& crowd, const std::string& interface) {
  const std::string over = interface.empty() ? "" : absl::StrCat(", and came over port ", interface);
  if (crowd.chain.empty()) {
    return absl::StrCat("Most are of nodes that no known node has a cable to", over,
                        ": check the node there, and stop or disconnect it if it advertises nodes that do not exist");
  }
  if (crowd.chain.size() == 1) {
    return absl::StrCat("Most are of nodes on this node's own cables", over,
                        ": check the node there, and stop or disconnect it if it advertises nodes that do not exist");
  }
  return absl::StrCat("Most are of nodes behind ", crowd.chain.back(), ", on the chain ", chain_text(crowd.chain),
                      ": check node ", crowd.chain.back(),
                      ", and stop or disconnect it if it advertises nodes that do not exist");
}

}  // namespace

std::string crowd_text(const Crowd& crowd, const std::string& interface) {
  return absl::StrCat("the cluster advertises more than the ", routing::kMaxNodes, " nodes, or ", routing::kMaxWeight,
                      " ports, that a node holds: ", crowd.left_out, " advertisements are left out. ",
                      where_text(crowd, interface));
}

}  // namespace cableway
