#include "routing/topology/cable_name.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"

namespace cableway::routing {
namespace {

std::string end_name(std::string_view node, std::string_view interface) {
  std::string name(node);
  name += '.';
  name += interface;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return !absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-'; },
      '_');
  return name;
}

}  // namespace

std::string default_cable_name(std::string_view first_node, std::string_view second_node) {
  std::string name(first_node);
  name += '-';
  name += second_node;
  return name;
}

void name_cables(std::span<const Node> nodes, std::vector<Cable>& cables) {
  std::set<std::string> taken;
  for (const Cable& cable : cables) taken.insert(cable.name);
  std::map<std::string, std::size_t> last_number;
  for (Cable& cable : cables) {
    if (!cable.name.empty()) continue;
    const std::string base = default_cable_name(nodes[cable.a.node.value].name, nodes[cable.b.node.value].name);
    std::size_t& number = last_number[base];
    do {
      ++number;
      cable.name = number == 1 ? base : absl::StrCat(base, "-", number);
    } while (!taken.insert(cable.name).second);
  }
}

std::string discovered_cable_name(std::string_view node, std::string_view interface, std::string_view other_node,
                                  std::string_view other_interface) {
  std::string first = end_name(node, interface);
  std::string second = end_name(other_node, other_interface);
  if (natural_less(other_node, node)) std::swap(first, second);
  return default_cable_name(first, second);
}

std::optional<CableInterfaces> interfaces_in_name(std::string_view cable, std::string_view node,
                                                  std::string_view other_node) {
  const bool swapped = natural_less(other_node, node);
  const std::string first = end_name(swapped ? other_node : node, "");
  const std::string between = "-" + end_name(swapped ? node : other_node, "");
  if (!cable.starts_with(first)) return std::nullopt;
  cable.remove_prefix(first.size());
  const std::size_t end = cable.find(between);
  if (end == std::string_view::npos || end == 0 || end + between.size() == cable.size()) return std::nullopt;
  CableInterfaces found{std::string(cable.substr(0, end)), std::string(cable.substr(end + between.size()))};
  if (swapped) std::swap(found.node, found.other_node);
  return found;
}

bool has_default_name(const Topology& topology, const Cable& cable) {
  const std::string& a = topology.node(cable.a.node).name;
  const std::string& b = topology.node(cable.b.node).name;
  return cable.name == default_cable_name(a, b) || cable.name == default_cable_name(b, a) ||
         cable.name == discovered_cable_name(a, cable.a.interface, b, cable.b.interface);
}

}  // namespace cableway::routing
