// The ends of cables in the documents of nodes (core/view/shown_view.h). The functions throw Json::exception where a
// member is missing or of another type.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_CABLE_END_H_
#define CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_CABLE_END_H_

#include <compare>
#include <optional>
#include <string>

#include "tools/cableway/text/json.h"

namespace cableway::cli {

struct CableEnd {
  std::string node;
  std::string interface;
  friend auto operator<=>(const CableEnd&, const CableEnd&) = default;
};

// "n1 eth0"
std::string cable_end_text(const CableEnd& end);

// The port of a document by its interface; null: there is none.
const Json* port_of(const Json& document, const std::string& interface);

// The neighbour of the port's cable that is up, else the first that is heard; null: none is.
const Json* neighbour_of(const Json& port);

// The end of the cable at a neighbour.
CableEnd cable_end_of(const Json& neighbour);

// The other end of the cable at that port: neighbour_of() it, or the one that it had before the cable was lost.
std::optional<CableEnd> other_end(const Json& document, const std::string& interface);
// The same, of the port's cable to that node: others may be on its segment.
std::optional<CableEnd> other_end_at(const Json& document, const std::string& interface, const std::string& node);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_CABLE_END_H_
