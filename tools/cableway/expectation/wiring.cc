#include "tools/cableway/expectation/wiring.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway::cli {

std::string jack_text_at_node(const Jack& jack) {
  std::string interfaces = absl::StrJoin(jack.interfaces, ", ");
  if (jack.plug.empty()) return interfaces;
  return absl::StrCat("plug ", jack.plug, interfaces.empty() ? "" : absl::StrCat(" (", interfaces, ")"));
}

std::string short_jack_text(const Jack& jack) {
  return jack.plug.empty() ? jack_text(jack) : absl::StrCat("plug ", jack.plug, " of ", jack.node);
}

std::string jack_text(const Jack& jack) {
  if (jack.plug.empty() && jack.interfaces.empty()) return jack.node;
  const std::string interfaces = absl::StrJoin(jack.interfaces, ", ");
  if (jack.plug.empty()) return absl::StrCat(interfaces, " of ", jack.node);
  return absl::StrCat("plug ", jack.plug, " of ", jack.node,
                      interfaces.empty() ? "" : absl::StrCat(" (", interfaces, ")"));
}

std::size_t JackTable::place(const std::string& node, const std::string& key, const std::string& plug,
                             const std::string& interface) {
  const auto [it, is_new] = by_key_.try_emplace({node, key}, jacks_.size());
  if (is_new) jacks_.push_back({node, plug, {}});
  Jack& jack = jacks_[it->second];
  if (jack.plug.empty()) jack.plug = plug;
  const bool is_known = std::find(jack.interfaces.begin(), jack.interfaces.end(), interface) != jack.interfaces.end();
  if (!interface.empty() && !is_known) jack.interfaces.push_back(interface);
  return it->second;
}

// No name of a plug or an interface has a '/'.
std::string own_jack_key(const std::string& /*node*/, const routing::Port& port, const routing::Cable& cable) {
  if (!port.plug.empty()) return absl::StrCat("plug/", port.plug);
  if (!port.interface.empty()) return absl::StrCat("interface/", port.interface);
  return absl::StrCat("cable/", cable.name);
}

std::vector<Wire> wires_of(const routing::Topology& topology, const JackKey& key, JackTable& jacks) {
  std::vector<Wire> wires;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> by_jacks;
  const auto jack_of = [&](const routing::Port& port, const routing::Cable& cable) {
    const std::string& node = topology.node(port.node).name;
    return jacks.place(node, key(node, port, cable), port.plug, port.interface);
  };
  for (const routing::Cable& cable : topology.plugged_cables()) {
    const std::size_t a = jack_of(cable.a, cable);
    const std::size_t b = jack_of(cable.b, cable);
    const auto [it, is_new] = by_jacks.try_emplace({a, b}, wires.size());
    if (is_new) wires.push_back({a, b, {}});
    wires[it->second].links.push_back({cable.a.interface, cable.b.interface, &cable});
  }
  return wires;
}

}  // namespace cableway::cli
