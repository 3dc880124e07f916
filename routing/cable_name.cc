#include "routing/cable_name.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "routing/node_name.h"

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

std::string discovered_cable_name(std::string_view node, std::string_view interface, std::string_view other_node,
                                  std::string_view other_interface) {
  std::string first = end_name(node, interface);
  std::string second = end_name(other_node, other_interface);
  if (natural_less(other_node, node)) std::swap(first, second);
  return default_cable_name(first, second);
}

bool has_default_name(const Topology& topology, const Cable& cable) {
  const std::string& a = topology.node(cable.a.node).name;
  const std::string& b = topology.node(cable.b.node).name;
  return cable.name == default_cable_name(a, b) || cable.name == default_cable_name(b, a) ||
         cable.name == discovered_cable_name(a, cable.a.interface, b, cable.b.interface);
}

}  // namespace cableway::routing
