// `status --all`, `ports --all` and `flows --all`: the views of all nodes (core/view/shown_view.h) as one.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_ALL_NODES_VIEWS_H_
#define CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_ALL_NODES_VIEWS_H_

#include <string>

#include "tools/cableway/all_nodes/node_documents.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/look.h"

namespace cableway::cli {

// Each takes those of `documents` out that it cannot read; they are then among the missing ones.

// With `before`, what this has shown a moment ago, the rates since; else bytes.
// A row for each node, then the problems of each.
std::string all_status_text(NodeDocuments& documents, const NodeDocuments* before, const Look& look = {});
// A row for each port.
std::string all_ports_text(NodeDocuments& documents, const NodeDocuments* before, const Look& look = {});
// A row for each flow, which both of its ends report, and one for each node that relays.
std::string all_flows_text(NodeDocuments& documents, const Look& look = {});

// documents_json(), for flows with the member "flows": each once, with "from" and "to".
Json all_status_json(NodeDocuments documents);
Json all_ports_json(NodeDocuments documents);
Json all_flows_json(NodeDocuments documents);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_ALL_NODES_VIEWS_H_
