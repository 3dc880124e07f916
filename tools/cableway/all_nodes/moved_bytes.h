// What has moved between two documents of a node: bytes that it counts, by its own clock.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_MOVED_BYTES_H_
#define CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_MOVED_BYTES_H_

#include <string>

#include "tools/cableway/all_nodes/node_documents.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {

// The document of that node; null: there is none.
const Json* document_of(const NodeDocuments* documents, const std::string& node);

// The members of what was carried in one direction: by interfaces, and by RDMA devices, whose bytes the interfaces do
// not count. Nodes of an earlier version may have only the first, or none.
struct Direction {
  const char* interface;
  const char* rdma;
};
inline constexpr Direction kIn{"received_bytes", "rdma_received_bytes"};
inline constexpr Direction kOut{"sent_bytes", "rdma_sent_bytes"};

// The functions throw Json::exception where a count is no number.
//
// "1.5 GiB"; "-": not known. `counts`: an object with the members.
std::string carried(const Json& counts, const Direction& direction);

struct CountsAt {
  const Json& document;  // of the node, with its "uptime_ms"
  const Json& counts;    // an object in it, or itself
};
// In Mbit/s, "93.4". "-": not known, as where the node shows one document twice, or has started again since.
std::string mbps_between(const CountsAt& before, const CountsAt& now, const Direction& direction);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_MOVED_BYTES_H_
