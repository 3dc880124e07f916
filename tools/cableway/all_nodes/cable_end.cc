#include "tools/cableway/all_nodes/cable_end.h"

#include "absl/strings/str_cat.h"
#include "tools/cableway/node/node_answer.h"

namespace cableway::cli {

std::string cable_end_text(const CableEnd& end) {
  return absl::StrCat(end.node, " ", end.interface);
}

const Json* port_of(const Json& document, const std::string& interface) {
  for (const Json& port : document.at("ports")) {
    if (text(port, "interface") == interface) return &port;
  }
  return nullptr;
}

const Json* neighbour_of(const Json& port) {
  const Json* best = nullptr;
  for (const Json& each : port.at("neighbours")) {
    if (text(each, "state") == "up") return &each;
    if (best == nullptr) best = &each;
  }
  return best;
}

CableEnd cable_end_of(const Json& neighbour) {
  return {text(neighbour, "node"), text(neighbour, "interface")};
}

namespace {

// The end that the port's cable had before it was lost.
std::optional<CableEnd> lost_end(const Json& document, const std::string& interface) {
  const Json& lost = document.at("lost_cables");
  const auto found = lost.find(interface);
  return found == lost.end() ? std::nullopt : std::optional(cable_end_of(*found));
}

}  // namespace

std::optional<CableEnd> other_end(const Json& document, const std::string& interface) {
  const Json* const port = port_of(document, interface);
  const Json* const neighbour = port == nullptr ? nullptr : neighbour_of(*port);
  return neighbour != nullptr ? cable_end_of(*neighbour) : lost_end(document, interface);
}

std::optional<CableEnd> other_end_at(const Json& document, const std::string& interface, const std::string& node) {
  if (const Json* const port = port_of(document, interface); port != nullptr) {
    const Json* best = nullptr;
    for (const Json& each : port->at("neighbours")) {
      if (text(each, "node") != node) continue;
      // Of a split port's functions, the one that a cable joins to this port.
      if (best == nullptr || text(*best, "state") == "unpaired") best = &each;
    }
    if (best != nullptr) return cable_end_of(*best);
  }
  const std::optional<CableEnd> lost = lost_end(document, interface);
  return lost && lost->node == node ? lost : std::nullopt;
}

}  // namespace cableway::cli
