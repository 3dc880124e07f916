#include "tools/cableway/expectation/shared_jacks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/cableway/expectation/wiring.h"

namespace cableway::cli {

SharedJacks::SharedJacks(const routing::Topology& expected, const routing::Topology& found)
    : expected_(plugs_of(expected)), found_(plugs_of(found)) {
  for (const auto& [interface, plug] : found_) {
    const auto known = expected_.find(interface);
    const bool is_named = known != expected_.end() && !known->second.empty();
    if (is_named && !plug.empty()) expected_name_[{interface.first, plug}] = known->second;
  }
}

SharedJacks::Plugs SharedJacks::plugs_of(const routing::Topology& topology) {
  Plugs plugs;
  for (const routing::Cable& cable : topology.plugged_cables()) {
    for (const routing::Port* port : {&cable.a, &cable.b}) {
      if (!port->interface.empty()) plugs[{topology.node(port->node).name, port->interface}] = port->plug;
    }
  }
  return plugs;
}

std::string SharedJacks::operator()(const std::string& node, const routing::Port& port,
                                    const routing::Cable& cable) const {
  if (port.interface.empty()) return own_jack_key(node, port, cable);
  const Interface interface { node, port.interface };
  if (const auto known = expected_.find(interface); known != expected_.end() && !known->second.empty()) {
    return absl::StrCat("expected/", known->second);
  }
  const auto found = found_.find(interface);
  if (found == found_.end() || found->second.empty()) return absl::StrCat("interface/", port.interface);
  const auto expected_name = expected_name_.find({node, found->second});
  return expected_name == expected_name_.end() ? absl::StrCat("found/", found->second)
                                               : absl::StrCat("expected/", expected_name->second);
}

bool SharedJacks::tell_ports() const {
  const bool is_shared =
      std::any_of(found_.begin(), found_.end(), [&](const auto& each) { return expected_.contains(each.first); });
  return is_shared || found_.empty();
}

}  // namespace cableway::cli
