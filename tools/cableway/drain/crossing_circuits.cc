#include "tools/cableway/drain/crossing_circuits.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/cableway/node/node_answer.h"

namespace cableway::cli {
namespace {

void add(CrossingCircuits& crossing, const std::string& path) {
  ++crossing.circuits;
  if (crossing.paths.size() < kMaxCrossingPaths) crossing.paths.push_back(path);
}

std::uint64_t not_listed(std::uint64_t open, const Json& listed) {
  return open > listed.size() ? open - listed.size() : 0;
}

// Whether the path of a flow that begins or ends here has the neighbour next to this node. A long path's text leaves
// nodes out, and may lack it.
bool passes_neighbour(const std::string& path, const DrainTarget& target) {
  const std::string first = absl::StrCat(target.node, " -> ", target.neighbour);
  const std::string last = absl::StrCat(target.neighbour, " -> ", target.node);
  const bool begins = path == first || absl::StartsWith(path, first + " -> ");
  const bool ends = path == last || absl::EndsWith(path, " -> " + last);
  return begins || ends || absl::StrContains(path, " nodes)");
}

// `carried` is a flow or one of its circuits.
bool crosses(const Json& carried, const DrainTarget& target) {
  const Json& port = carried.at("port");
  if (port.is_null() || port.get<std::string>() != target.interface) return false;
  return passes_neighbour(text(carried, "path"), target);
}

void add_own(CrossingCircuits& crossing, const Json& status, const DrainTarget& target) {
  for (const Json& flow : status.at("flows")) {
    // Its process reports circuits a second after the flow has begun. A flow that waits has the path of its last one.
    const Json& circuits = flow.at("circuits");
    if (circuits.empty() && flow.at("waits").is_null() && crosses(flow, target)) add(crossing, text(flow, "path"));
    for (const Json& circuit : circuits) {
      if (crosses(circuit, target)) add(crossing, text(circuit, "path"));
    }
  }
  crossing.not_listed += not_listed(number(status.at("own"), "flows_open"), status.at("flows"));
}

}  // namespace

CrossingCircuits crossing_circuits(const Json& status, const DrainTarget& target) {
  CrossingCircuits crossing;
  const std::string hop = target.is_cable() ? absl::StrCat(" -", target.cable, "-> ") : "";
  for (const Json& circuit : status.at("circuits")) {
    const std::string path = text(circuit, "path");
    if (absl::StrContains(path, hop)) add(crossing, path);
  }
  crossing.not_listed = not_listed(number(status.at("relayed"), "circuits_open"), status.at("circuits"));
  if (target.is_cable()) add_own(crossing, status, target);
  return crossing;
}

std::string describe(const CrossingCircuits& crossing) {
  return absl::StrCat(
      crossing.circuits, crossing.circuits == 1 ? " circuit" : " circuits",
      crossing.not_listed == 0 ? "" : absl::StrCat(", and ", crossing.not_listed, " that are not listed"));
}

}  // namespace cableway::cli
