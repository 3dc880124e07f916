// What has moved between two documents of a node: bytes that it counts, by its own clock.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_MOVED_BYTES_H_
#define CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_MOVED_BYTES_H_

#include <string>

#include "tools/cableway/all_nodes/node_documents.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {

// The document of that node; null: there is none.
const Json* document_of(const NodeDocuments* documents, const std::string& node);

// A count of bytes at a time. Both throw Json::exception where they are no numbers.
struct BytesAt {
  const Json& uptime_ms;
  const Json& bytes;  // null: the node does not know
};

// In Mbit/s, "93.4". "-": not known, as where the node shows one document twice, or has started again since.
std::string mbps_between(const BytesAt& before, const BytesAt& now);
// "1.5 GiB"
std::string bytes_or_dash(const Json& bytes);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_MOVED_BYTES_H_
