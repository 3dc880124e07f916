// Reads a topology file from disk.
#ifndef CABLEWAY_CORE_LINUX_FILES_TOPOLOGY_READER_H_
#define CABLEWAY_CORE_LINUX_FILES_TOPOLOGY_READER_H_

#include <string>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"

namespace cableway::host {

// The ending of the name says which form it has: routing/topology_io/topology_input.h. InvalidArgument names the file,
// and the place where the text is at fault. Reads no more than a topology file may have, and only what open_input()
// opens (bounded_file.h).
absl::StatusOr<routing::Topology> read_topology(const std::string& path);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_FILES_TOPOLOGY_READER_H_
