#include "core/circuit/hop_names.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/flow/chunk_link.h"
#include "core/printable.h"
#include "routing/topology/cable_name.h"

namespace cableway {

HopEnd dialing_end(const CircuitSetup& setup, std::size_t hop) {
  const Hop& crossed = setup.hops[hop];
  const std::string& from = hop == 0 ? setup.from_node : setup.hops[hop - 1].to_node;
  HopEnd end{from, "", crossed.to_node, "", crossed.cable, hop + 1 < setup.hops.size()};
  if (std::optional<routing::CableInterfaces> ports =
          routing::interfaces_in_name(crossed.cable, end.node, end.other_node)) {
    end.port = std::move(ports->node);
    end.other_port = std::move(ports->other_node);
  }
  return end;
}

HopEnd accepting_end(const CircuitSetup& setup, std::size_t hop) {
  HopEnd end = dialing_end(setup, hop);
  std::swap(end.node, end.other_node);
  std::swap(end.port, end.other_port);
  end.other_relays = hop > 0;
  return end;
}

bool is_at(const HopEnd& end, const std::string& interface) {
  return !end.port.empty() && end.port == interface;
}

bool is_over(const HopEnd& end, const PortLost& lost) {
  if (!is_at(end, lost.interface) || (lost.only_relayed && !end.other_relays)) return false;
  return lost.cable.empty() || lost.cable == end.cable;
}

std::string to_text(const HopEnd& end) {
  if (end.node == end.other_node) return printable(absl::StrCat("node ", end.node, " (between two of its processes)"));
  if (end.port.empty())
    return printable(absl::StrCat("node ", end.node, " (cable ", end.cable, " to ", end.other_node, ")"));
  return printable(
      absl::StrCat("node ", end.node, " port ", end.port, " (cable to ", end.other_node, " ", end.other_port, ")"));
}

std::string nodes_on_path(const CircuitSetup& setup) {
  constexpr absl::string_view kArrow = " -> ";
  constexpr std::size_t kMaxForLeftOut = 24;  // " -> (127 nodes) -> "
  std::vector<absl::string_view> nodes{setup.from_node};
  for (const Hop& hop : setup.hops) nodes.push_back(hop.to_node);
  std::string path = absl::StrJoin(nodes, kArrow);
  if (path.size() <= kMaxPathText) return printable(path);
  const absl::string_view last = nodes.back();
  path = std::string(nodes.front());
  std::size_t shown = 1;
  while (path.size() + kArrow.size() + nodes[shown].size() + kMaxForLeftOut + last.size() <= kMaxPathText) {
    absl::StrAppend(&path, kArrow, nodes[shown++]);
  }
  return printable(absl::StrCat(path, kArrow, "(", nodes.size() - 1 - shown, " nodes)", kArrow, last));
}

}  // namespace cableway
