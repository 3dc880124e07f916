#include "routing/topology/cable_name.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"
#include "routing/topology/port_address.h"

namespace cableway::routing {
namespace {

constexpr char kBetweenFields = ':';

struct NamedEnd {
  std::string_view node;
  std::string_view interface;
};

// Whether dots and dashes tell the fields of a name apart.
bool is_plain(const NamedEnd& end) {
  return end.node.find('.') == std::string_view::npos &&
         std::all_of(end.interface.begin(), end.interface.end(),
                     [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

std::string name_of_ends(const NamedEnd& first, const NamedEnd& second) {
  const bool plain = is_plain(first) && is_plain(second);
  const char within = plain ? '.' : kBetweenFields;
  std::string name;
  name.append(first.node).append(1, within).append(first.interface);
  name += plain ? '-' : kBetweenFields;
  return name.append(second.node).append(1, within).append(second.interface);
}

// The text before `end`, which is removed from `text` with it. nullopt: there is none.
std::optional<std::string_view> take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + 1);
  return taken;
}

// The ends in a name of either form, in its order; whatever else there is may be in the last interface.
std::optional<std::pair<NamedEnd, NamedEnd>> ends_in(std::string_view name) {
  const bool plain = name.find(kBetweenFields) == std::string_view::npos;
  const char within = plain ? '.' : kBetweenFields;
  const std::optional<std::string_view> first = take_until(name, within);
  const std::optional<std::string_view> interface = take_until(name, plain ? '-' : kBetweenFields);
  const std::optional<std::string_view> second = take_until(name, within);
  if (!first || !interface || !second) return std::nullopt;
  return std::pair(NamedEnd{*first, *interface}, NamedEnd{*second, name});
}

bool is_valid_end(const NamedEnd& end) {
  return is_valid_name(end.node, kMaxNodeNameBytes) && is_valid_interface_name(end.interface);
}

}  // namespace

bool is_valid_cable_name(std::string_view name) {
  static_assert(2 * (kMaxNodeNameBytes + kMaxInterfaceNameBytes) + 3 <= kMaxCableNameLength);
  if (is_valid_name(name, kMaxCableNameLength)) return true;
  if (name.find(kBetweenFields) == std::string_view::npos) return false;
  const auto ends = ends_in(name);
  return ends.has_value() && is_valid_end(ends->first) && is_valid_end(ends->second);
}

std::string cable_name_fault(std::string_view name) {
  if (name.find(kBetweenFields) == std::string_view::npos) return name_fault(name, kMaxCableNameLength);
  return "is not valid; expected NODE:INTERFACE:NODE:INTERFACE where there is a \":\"";
}

std::string default_cable_name(std::string_view first_node, std::string_view second_node) {
  std::string name(first_node);
  name += '-';
  name += second_node;
  return name;
}

std::string pair_name(std::string_view a, std::string_view b) {
  return natural_less(b, a) ? default_cable_name(b, a) : default_cable_name(a, b);
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
  const NamedEnd here{node, interface};
  const NamedEnd there{other_node, other_interface};
  return natural_less(other_node, node) ? name_of_ends(there, here) : name_of_ends(here, there);
}

std::optional<CableInterfaces> interfaces_in_name(std::string_view cable, std::string_view node,
                                                  std::string_view other_node) {
  auto ends = ends_in(cable);
  if (!ends.has_value() || !is_valid_end(ends->first) || !is_valid_end(ends->second)) return std::nullopt;
  auto& [here, there] = *ends;
  if (here.node != node) std::swap(here, there);
  if (here.node != node || there.node != other_node) return std::nullopt;
  // Not where the order of the nodes is another, or the other form would have been taken.
  if (discovered_cable_name(node, here.interface, other_node, there.interface) != cable) return std::nullopt;
  return CableInterfaces{std::string(here.interface), std::string(there.interface)};
}

bool has_default_name(const Topology& topology, const Cable& cable) {
  const std::string& a = topology.node(cable.a.node).name;
  const std::string& b = topology.node(cable.b.node).name;
  return cable.name == default_cable_name(a, b) || cable.name == default_cable_name(b, a) ||
         cable.name == discovered_cable_name(a, cable.a.interface, b, cable.b.interface);
}

}  // namespace cableway::routing
