// Reads a topology file from disk.
#ifndef CABLEWAY_CORE_LINUX_FILES_TOPOLOGY_READER_H_
#define CABLEWAY_CORE_LINUX_FILES_TOPOLOGY_READER_H_

#include <string>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"

namespace cableway::host {

// The file name's extension selects the format: routing/topology_io/topology_input.h. InvalidArgument names the file
// and the position of the error. Reads no more than the limit for topology files, and only what open_input() opens
// (bounded_file.h).
absl::StatusOr<routing::Topology> read_topology(const std::string& path);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_FILES_TOPOLOGY_READER_H_
